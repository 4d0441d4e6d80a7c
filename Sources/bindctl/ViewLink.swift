import BinderClient
import JSON

/// A connection to a daemon for one root view, polled by the caller.
///
/// If the daemon goes away, the view is opened again once a daemon returns.
final class ViewLink {
  /// A message from the daemon, or a change of the connection.
  enum News {
    /// The view was opened, for the first time or again.
    case open(JSONObject)
    /// A notification: `next`, `opened`, `closed`, `fail`.
    case notification(String, JSONObject)
    /// The reply to a request, by its ID.
    case answer(Int, Result<JSONObject, ClientError>)
    /// The connection was lost, with the daemon's reason.
    ///
    /// Pending requests get no reply.
    case lost(reason: String?)
  }

  private let link: PolledConnection
  private var news: [News] = []
  private var opening = 0

  /// Whether the view was open once; until then a refusal ends the program.
  private var wasOpen = false

  /// The refusal to open the view on this connection.
  private var refusal: ClientError?

  /// The error to throw after ``news``.
  private var failure: ClientError?

  /// - Parameters:
  ///   - open: The parameters of `open`.
  ///   - reconnects: Whether to reconnect after a loss; the first connection must succeed.
  init(_ client: BinderClient, open: JSONObject, reconnects: Bool) throws(ClientError) {
    link = PolledConnection(client, reconnects: reconnects)
    link.onConnect = { [unowned self] in opening = link.send("open", open) }
    link.onAnswer = { [unowned self] id, answer in receive(answer.map(\.object), to: id) }
    link.onNotification = { [unowned self] method, params in
      news.append(.notification(method, params.object))
    }
    try link.start()
  }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  var descriptor: CInt? { link.descriptor }

  /// The time after which ``receive()`` must be called, in milliseconds for `poll`; -1 for never.
  var pollTime: CInt { failure == nil ? link.pollTime : 0 }

  /// Sends a request; drops it while there is no daemon.
  ///
  /// - Returns: The ID of the request.
  @discardableResult
  func send(_ method: String, _ params: JSONObject) -> Int { link.send(method, params) }

  /// Reads available messages, or reconnects when it is time to.
  ///
  /// - Throws: ``ClientError`` if the view cannot be opened, or if the connection is lost and not
  ///   reconnected. Messages from before were returned.
  func receive() throws(ClientError) -> [News] {
    defer { news = [] }
    if failure == nil {
      do throws(ClientError) {
        if let end = try link.receive() { lose(end) }
        guard let refusal else { return news }
        self.refusal = nil
        guard wasOpen else { throw refusal }
        if let end = try link.lose(refusal) { lose(end) }
      } catch {
        failure = error
      }
    }
    if news.isEmpty, let failure { throw failure }
    return news
  }

  private func lose(_ end: ConnectionEnd) {
    refusal = nil
    let reason: String? = if case .lost(let reason) = end.error { reason } else { nil }
    news.append(.lost(reason: reason))
  }

  private func receive(_ answer: Result<JSONObject, ClientError>, to id: Int) {
    guard id == opening else { return news.append(.answer(id, answer)) }
    switch answer {
    case .success(let view):
      wasOpen = true
      news.append(.open(view))
    case .failure(let error): refusal = error
    }
  }
}
