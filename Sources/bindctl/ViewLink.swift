import BinderClient
import Console
import JSON
import Wire

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
    case answer(Int, Result<JSONObject, WireError>)
    /// The connection was lost, with the daemon's reason.
    ///
    /// Pending requests get no reply.
    case lost(reason: String?)
  }

  private let client: BinderClient
  private let open: JSONObject
  private let reconnects: Bool

  /// The connection; `nil` while there is no daemon.
  private var socket: ClientSocket?
  private var splitter = LineSplitter(limit: lineLimit)
  private var news: [News] = []
  private var lastID = 0
  private var opening = 0
  private var wasOpen = false
  private var backoff = Backoff()
  private var closingReason: String?

  /// The pause before reconnecting, in milliseconds, if the daemon has asked for one.
  private var wantedPause: UInt64?

  /// The time of the next attempt to connect.
  private var nextTry = Deadline.never

  private static let lineLimit = 16 << 20

  /// - Parameters:
  ///   - open: The parameters of `open`.
  ///   - reconnects: Whether to reconnect after a loss; the first connection must succeed.
  init(_ client: BinderClient, open: JSONObject, reconnects: Bool) throws(ClientError) {
    (self.client, self.open, self.reconnects) = (client, open, reconnects)
    try connect()
  }

  /// The descriptor to poll for input; `nil` while there is no daemon.
  var descriptor: CInt? { socket?.descriptor }

  /// The time after which ``receive()`` must be called, in milliseconds; `nil` for no limit.
  var milliseconds: CInt? { socket == nil ? nextTry.pollTime : nil }

  private func connect() throws(ClientError) {
    socket = try client.openSocket()
    splitter = LineSplitter(limit: Self.lineLimit)
    (closingReason, wantedPause) = (nil, nil)
    send(
      "hello",
      [
        "client": .object(["name": .string("bindctl"), "version": .string(Release.version)]),
        "limits": .object(["line": .number(JSONNumber(Self.lineLimit))]),
      ])
    opening = send("open", open)
  }

  /// Sends a request; drops it while there is no daemon.
  ///
  /// - Returns: The ID of the request.
  @discardableResult
  func send(_ method: String, _ params: JSONObject) -> Int {
    lastID += 1
    let request: JSONObject = [
      "jsonrpc": .string("2.0"), "id": .number(JSONNumber(lastID)), "method": .string(method),
      "params": .object(params),
    ]
    // A lost connection is detected when reading.
    _ = socket?.send((JSONValue.object(request).text.text + "\n").utf8.span)
    return lastID
  }

  /// Reads available messages, or reconnects when it is time to.
  ///
  /// - Throws: ``ClientError`` if the view cannot be opened, or if the connection is lost and not
  ///   reconnected.
  func receive() throws(ClientError) -> [News] {
    guard let socket else {
      if nextTry.isOver { try reconnect() }
      return []
    }
    let isMore = socket.receive { chunk in
      splitter.feed(chunk) { line in
        if let line,
          case .object(let object)? = try? JSONValue(
            parsing: line, maxMembers: JSONLimits.anyMembers)
        {
          take(object)
        }
        return .done
      }
    }
    defer { news = [] }
    for case .answer(opening, .failure(let error)) in news { try lose(.refused(error)) }
    // Return earlier messages before the loss.
    if !isMore, news.isEmpty { try lose(.lost(reason: closingReason)) }
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
    guard socket != nil else { return }
    socket = nil
    pause()
    news.append(.lost(reason: closingReason))
  }

  private func pause() {
    let milliseconds = wantedPause ?? backoff.next(chance: Double.random(in: 0..<1))
    wantedPause = nil
    nextTry = Deadline(inMilliseconds: milliseconds)
  }

  private func take(_ frame: JSONObject) {
    if case .string(let method)? = frame["method"], case .object(let params)? = frame["params"] {
      guard method == "closing" else { return news.append(.notification(method, params)) }
      closingReason = params["reason"]?.bare
      if case .number(let pause)? = params["reconnect_ms"] {
        wantedPause = pause.int64.flatMap { UInt64(exactly: $0) }
      }
    } else if case .number(let id)? = frame["id"], let id = id.int64.map({ Int($0) }) {
      if case .object(let result)? = frame["result"] {
        if id == opening {
          wasOpen = true
          backoff.reset()
        }
        news.append(id == opening ? .open(result) : .answer(id, .success(result)))
      } else if let error = frame["error"].flatMap(WireError.init) {
        news.append(.answer(id, .failure(error)))
      }
    }
  }
}
