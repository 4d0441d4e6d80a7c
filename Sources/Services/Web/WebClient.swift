package import Signals

/// What services ask of the web: http and https, and no address of this machine or its network
/// unless that is allowed.
package protocol WebClient: AnyObject {
  /// Gets a page: once for each observer, from when it observes.
  ///
  /// The signal emits one response, of status 200 to 299 or 304, and completes. Disposing a run ends
  /// the transfer at once and costs nothing more; who asks for something newer disposes the older.
  func get(_ request: WebRequest) -> Signal<WebResponse, WebError>
}

/// What is asked for.
package struct WebRequest: Equatable, Sendable {
  /// An absolute address.
  package var url: String

  /// Beside those that the client sends itself, by name.
  package var headers: [String: String]

  package init(_ url: String, headers: [String: String] = [:]) {
    self.url = url
    self.headers = headers
  }
}

/// What was answered.
package struct WebResponse: Equatable, Sendable {
  package var status: Int

  /// By name in small letters; of those that stand twice the last.
  package var headers: [String: String]
  package var body: [UInt8]

  /// Where it was found, when that is known: who is sent on finds it elsewhere.
  package var url: String?

  package init(
    status: Int = 200, headers: [String: String] = [:], body: [UInt8] = [], url: String? = nil
  ) {
    (self.status, self.headers, self.body, self.url) = (status, headers, body, url)
  }

  /// The encoding that `content-type` names; `nil` when it names none.
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
