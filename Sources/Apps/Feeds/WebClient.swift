package import Signals

/// An HTTP and HTTPS client for services.
///
/// It refuses addresses of this machine and its network unless allowed.
package protocol WebClient: AnyObject {
  /// Sends a GET request, once for each observer.
  ///
  /// The signal emits one response with status 200 to 299 or 304, and completes. Disposing the
  /// observation cancels the transfer at once. Callers that need a newer response should dispose
  /// the older request.
  func get(_ request: WebRequest) -> Signal<WebResponse, WebError>
}

/// A GET request.
package struct WebRequest: Equatable, Sendable {
  /// An absolute URL.
  package var url: String

  /// Additional headers by name.
  package var headers: [String: String]

  package init(_ url: String, headers: [String: String] = [:]) {
    self.url = url
    self.headers = headers
  }
}

/// A response.
package struct WebResponse: Equatable, Sendable {
  package var status: Int

  /// The headers by lower-case name; the last one wins if a name occurs twice.
  package var headers: [String: String]
  package var body: [UInt8]

  /// The final URL after redirects; `nil` if unknown.
  package var url: String?

  package init(
    status: Int = 200, headers: [String: String] = [:], body: [UInt8] = [], url: String? = nil
  ) {
    (self.status, self.headers, self.body, self.url) = (status, headers, body, url)
  }

  /// The encoding given by `content-type`; `nil` if there is none.
  package var charset: String? {
    let parts = headers["content-type"]?.split(separator: ";").dropFirst() ?? []
    for part in parts {
      let words = part.split(separator: "=", maxSplits: 1).map { $0.filter { $0 > " " } }
      guard words.count == 2, words[0].lowercased() == "charset" else { continue }
      let name = words[1].filter { $0 != "\"" && $0 != "'" }
      return name.isEmpty ? nil : name
    }
    return nil
  }
}
