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

  private let client: BinderClient
  private let open: JSONObject
  private let reconnects: Bool

  /// The connection; `nil` while there is no daemon.
  private var connection: BinderConnection?
  private var news: [News] = []

  /// The ID of the last request, of all connections.
  private var lastID = 0

  /// The ID of the last request of earlier connections.
  private var earlier = 0
  private var opening = 0
  private var wasOpen = false
  private var backoff = Backoff()

  /// The time of the next attempt to connect.
  private var nextTry = Deadline.never

  /// - Parameters:
  ///   - open: The parameters of `open`.
  ///   - reconnects: Whether to reconnect after a loss; the first connection must succeed.
  init(_ client: BinderClient, open: JSONObject, reconnects: Bool) throws(ClientError) {
    (self.client, self.open, self.reconnects) = (client, open, reconnects)
    try connect()
  }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  var descriptor: CInt? { connection?.descriptor }

  /// The time after which ``receive()`` must be called, in milliseconds; `nil` for no limit.
  var milliseconds: CInt? { connection == nil ? nextTry.pollTime : nil }

  private func connect() throws(ClientError) {
    let connection = try client.connectWithoutWaiting()
    connection.onAnswer = { [unowned self] id, answer in take(answer, to: earlier + id) }
    connection.onNotification = { [unowned self] method, params in
      news.append(.notification(method, params.object))
    }
    self.connection = connection
    // Each connection counts from 1, which is its `hello`.
    earlier = lastID
    lastID += 1
    opening = send("open", open)
  }

  /// Sends a request; drops it while there is no daemon.
  ///
  /// - Returns: The ID of the request.
  @discardableResult
  func send(_ method: String, _ params: JSONObject) -> Int {
    lastID += 1
    // A lost connection is detected when reading.
    _ = try? connection?.send(method, params)
    return lastID
  }

  /// Reads available messages, or reconnects when it is time to.
  ///
  /// - Throws: ``ClientError`` if the view cannot be opened, or if the connection is lost and not
  ///   reconnected.
  func receive() throws(ClientError) -> [News] {
    guard let connection else {
      if nextTry.isOver { try reconnect() }
      return []
    }
    defer { news = [] }
    var failure: ClientError?
    do throws(ClientError) {
      try connection.receiveArrived()
    } catch {
      failure = error
    }
    for case .answer(opening, .failure(let error)) in news { try lose(error) }
    // Return earlier messages before the loss, which is detected again.
    if case .lost? = failure, !news.isEmpty { return news }
    if let failure { try lose(failure) }
    return news
  }

  private func reconnect() throws(ClientError) {
    do throws(ClientError) {
      try connect()
    } catch {
      guard error.isPassing else { throw error }
      pause()
    }
  }

  /// Closes the connection and schedules a reconnection; throws if the error is permanent.
  private func lose(_ error: ClientError) throws(ClientError) {
    guard reconnects, wasOpen, error.isPassing else { throw error }
    guard let connection else { return }
    self.connection = nil
    pause(requested: connection.reconnectMilliseconds)
    let reason: String? = if case .lost(let reason) = error { reason } else { nil }
    news.append(.lost(reason: reason))
  }

  private func pause(requested milliseconds: UInt64? = nil) {
    nextTry = Deadline(inMilliseconds: backoff.next(requested: milliseconds))
  }

  private func take(_ answer: Result<JSONText, ClientError>, to id: Int) {
    let answer = answer.map(\.object)
    guard id == opening, case .success(let view) = answer else {
      return news.append(.answer(id, answer))
    }
    wasOpen = true
    backoff.reset()
    news.append(.open(view))
  }
}
