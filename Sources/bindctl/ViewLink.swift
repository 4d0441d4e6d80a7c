import BinderClient
import Console
import JSON
import Wire

/// The way to a daemon over which a view is opened and asked; what comes is taken when it comes.
///
/// When the daemon goes away, the view is opened anew with the one that comes.
final class ViewLink {
  /// What the daemon says.
  enum News {
    /// The view is open, for the first time or anew.
    case open(JSONObject)
    /// A notification: `next`, `opened`, `closed`, `fail`.
    case notification(String, JSONObject)
    /// The answer to a request by its number.
    case answer(Int, Result<JSONObject, WireError>)
    /// There is no daemon, with the reason that it gave; nothing that was asked is answered.
    case lost(reason: String?)
  }

  private let client: BinderClient
  private let open: JSONObject
  private let reconnects: Bool

  /// `nil` while there is no daemon.
  private var socket: ClientSocket?
  private var splitter = LineSplitter(limit: lineLimit)
  private var news: [News] = []
  private var lastID = 0
  private var opening = 0
  private var wasOpen = false
  private var backoff = Backoff()
  private var closingReason: String?

  /// How long the daemon has asked to be left alone.
  private var wantedPause: UInt64?

  /// When it is tried again to connect.
  private var nextTry = Deadline.never

  private static let lineLimit = 16 << 20

  /// - Parameters:
  ///   - open: What is opened, as `open` takes it.
  ///   - reconnects: Whether a lost connection is made anew; the first one must succeed.
  init(_ client: BinderClient, open: JSONObject, reconnects: Bool) throws(ClientError) {
    (self.client, self.open, self.reconnects) = (client, open, reconnects)
    try connect()
  }

  /// What can be read when something has come; `nil` while there is no daemon.
  var descriptor: CInt? { socket?.descriptor }

  /// After how long ``receive()`` is called in any case; `nil` for never.
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

  /// Sends a request; where there is no daemon it is lost.
  ///
  /// - Returns: By what its answer is known.
  @discardableResult
  func send(_ method: String, _ params: JSONObject) -> Int {
    lastID += 1
    let request: JSONObject = [
      "jsonrpc": .string("2.0"), "id": .number(JSONNumber(lastID)), "method": .string(method),
      "params": .object(params),
    ]
    // What is lost is noticed where answers are read.
    _ = socket?.send((JSONValue.object(request).text.text + "\n").utf8.span)
    return lastID
  }

  /// Takes in what has come, or tries to connect when it is time to.
  ///
  /// - Throws: ``ClientError``: when the view is not opened, or the connection is lost and not made
  ///   anew.
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
    // What it has said before is taken first.
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

  /// Lets the connection go, and tries again later; throws what is no reason to.
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
