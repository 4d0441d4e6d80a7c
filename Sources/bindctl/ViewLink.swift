import BinderClient
import Console
import JSON
import Wire

/// The way to a daemon over which views are opened and asked; what comes is taken when it comes.
final class ViewLink {
  /// What the daemon says.
  enum News {
    /// A notification: `next`, `opened`, `closed`, `fail`.
    case notification(String, JSONObject)
    /// The answer to a request by its number.
    case answer(Int, Result<JSONObject, WireError>)
  }

  private let socket: ClientSocket
  private var splitter = LineSplitter(limit: lineLimit)
  private var news: [News] = []
  private var lastID = 0

  /// Why the daemon has hung up; `nil` while it has not said so.
  private(set) var closingReason: String?

  private static let lineLimit = 16 << 20

  init(_ client: BinderClient) throws(ClientError) {
    socket = try client.openSocket()
    send(
      "hello",
      [
        "client": .object(["name": .string("bindctl"), "version": .string(Context.version)]),
        "limits": .object(["line": .number(JSONNumber(Self.lineLimit))]),
      ])
  }

  var descriptor: CInt { socket.descriptor }

  /// Sends a request.
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
    _ = socket.send((JSONValue.object(request).text.text + "\n").utf8.span)
    return lastID
  }

  /// Waits for more and takes it in.
  ///
  /// - Returns: What has come; `nil` when the daemon has hung up and everything was taken.
  func receive() -> [News]? {
    let isMore = socket.receive { chunk in
      splitter.feed(chunk) { line in
        if let line, let value = try? JSONValue(parsing: line), case .object(let object) = value {
          take(object)
        }
        return .done
      }
    }
    defer { news = [] }
    return isMore || !news.isEmpty ? news : nil
  }

  private func take(_ frame: JSONObject) {
    if case .string(let method)? = frame["method"], case .object(let params)? = frame["params"] {
      guard method == "closing" else { return news.append(.notification(method, params)) }
      closingReason = params["reason"]?.bare
    } else if case .number(let id)? = frame["id"], let id = id.int64 {
      if case .object(let result)? = frame["result"] {
        news.append(.answer(Int(id), .success(result)))
      } else if let error = frame["error"].flatMap(WireError.init) {
        news.append(.answer(Int(id), .failure(error)))
      }
    }
  }
}
