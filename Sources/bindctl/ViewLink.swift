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
    /// The views have ended, because another text replaces theirs; they are opened again.
    case changed
    /// The new text of the view was refused, and the open views stay.
    case refused(ClientError)
    /// The connection was lost, with the daemon's reason.
    ///
    /// Pending requests get no reply.
    case lost(reason: String?)
  }

  private let link: PolledConnection
  private var open: JSONObject
  private var news: [News] = []

  /// The handle of the first view; `nil` if none is open.
  private var root: JSONValue?

  /// The first view that another text replaces, until that is open.
  private var replaced: JSONValue?
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
    self.open = open
    link.onConnect = { [unowned self] in opening = link.send("open", self.open) }
    link.onAnswer = { [unowned self] id, answer in receive(answer.map(\.object), to: id) }
    link.onNotification = { [unowned self] method, params in receive(method, params.object) }
    try link.start()
  }

  /// Opens another text in place of the present one.
  ///
  /// If the daemon refuses it, the open views stay.
  func replace(by text: String) {
    open["text"] = .string(text)
    guard let root else { return }
    replaced = root
    opening = link.send("open", open)
  }

  private func receive(_ method: String, _ params: JSONObject) {
    if method == "closed", params["reason"] == .string("changed") {
      // Its descendants come before it, and all are opened again.
      guard params["view"] == root else { return }
      root = nil
      news.append(.changed)
      wasOpen = false
      opening = link.send("open", open)
      return
    }
    news.append(.notification(method, params))
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
    (refusal, root, replaced) = (nil, nil, nil)
    let reason: String? = if case .lost(let reason) = end.error { reason } else { nil }
    news.append(.lost(reason: reason))
  }

  private func receive(_ answer: Result<JSONObject, ClientError>, to id: Int) {
    guard id == opening else { return news.append(.answer(id, answer)) }
    let old = replaced
    replaced = nil
    switch answer {
    case .success(let view):
      wasOpen = true
      root = view["view"]
      if let old {
        link.send("close", ["view": old])
        news.append(.changed)
      }
      news.append(.open(view))
    case .failure(let error) where old != nil: news.append(.refused(error))
    case .failure(let error): refusal = error
    }
  }
}
