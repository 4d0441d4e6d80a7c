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

  package init(status: Int = 200, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
