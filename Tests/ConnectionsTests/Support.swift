import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// A client socket that accepts as many bytes as the test allows.
final class FakeTransport: Transport {
  var room = Int.max
  var isGone = false
  private(set) var isReading = false
  private(set) var closes = 0
  private(set) var sends = 0
  private(set) var bytes: [UInt8] = []

  /// Called before each send.
  var onSend: () -> Void = {}

  /// It accepts subscriptions without a request, as these tests make them.
  var recorder = OrderRecorder(adoptsSubscriptions: true, late: ["late", "late and timed", "sync"])

  /// Whether the order of the lines is checked.
  var isOrderChecked = true

  func send(_ bytes: Span<UInt8>) -> Int? {
    guard !isGone else { return nil }
    sends += 1
    onSend()
    let count = min(room, bytes.count)
    for i in 0..<count { self.bytes.append(bytes[i]) }
    room -= count
    return count
  }

  func setReading(_ isReading: Bool) { self.isReading = isReading }
  func close() { closes += 1 }

  /// Returns the lines received since the last call.
  func lines() -> [String] {
    var lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    bytes = Array((lines.popLast() ?? "").utf8)
    for line in lines where isOrderChecked {
      if let fault = recorder.received(line) { Issue.record("\(fault)") }
    }
    return lines
  }
}

/// A scheduler and clock with manual time.
final class ManualTime: Scheduler {
  private(set) var milliseconds: UInt64 = 1_000

  /// The nanoseconds spent within turns; advanced by ``work(nanoseconds:)``.
  private(set) var nanoseconds: UInt64 = 0

  /// Lets time pass within a turn.
  func work(nanoseconds: UInt64) { self.nanoseconds += nanoseconds }

  private var waiting: [(id: Int, at: UInt64, action: () -> Void)] = []
  private var lastID = 0

  var count: Int { waiting.count }

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    lastID += 1
    let id = lastID
    waiting.append((id, milliseconds + UInt64((seconds * 1000).rounded(.up)), action))
    return BlockDisposable { [unowned self] in waiting.removeAll { $0.id == id } }
  }

  func advance(_ time: UInt64) {
    let end = milliseconds + time
    while let next = waiting.filter({ $0.at <= end }).min(by: { $0.at < $1.at }) {
      waiting.removeAll { $0.id == next.id }
      milliseconds = max(milliseconds, next.at)
      next.action()
    }
    milliseconds = end
  }
}

/// A handler of requests, as a closure.
final class Handler: RequestHandler {
  private let body: (Call, Request, Span<UInt8>) -> Connection.Parking?

  init(_ body: @escaping (Call, Request, Span<UInt8>) -> Connection.Parking?) {
    self.body = body
  }

  func handle(_ call: Call, _ request: Request, _ line: Span<UInt8>) -> Connection.Parking? {
    body(call, request, line)
  }
}

/// A table with one client; the test answers its requests.
final class Bench {
  let time = ManualTime()
  let table: ConnectionTable
  let connection: Connection
  let transport = FakeTransport()

  /// The handlers by method name.
  var methods: [String: (Call) -> LineSplitter.Verdict] = [:]

  init(_ change: (inout Limits) -> Void = { _ in }) {
    var limits = Limits()
    change(&limits)
    transport.recorder.maxLine = limits.lineIn
    let time = time
    table = ConnectionTable(
      limits: limits, now: { time.milliseconds }, clock: { time.nanoseconds }, scheduler: time)
    table.context.epoch = "e"
    connection = table.connect(Peer(uid: 1, pid: 3, groups: [2]))
    methods["echo"] = { call in
      call.answer { $0.append("{}") }
      return .done
    }
    connection.handler = Handler { [unowned self] call, request, line in
      let name = JSONScanner(line).text(request.method)
      guard let method = methods[name] else {
        call.refuse(WireError(.methodNotFound, "no method"))
        return nil
      }
      return method(call) == .later ? .durability : nil
    }
    connection.start(transport)
  }

  deinit {
    table.closeAll(.shutdown)
    table.flush()
  }

  func receive(_ text: String) {
    transport.recorder.sent(Array(text.utf8))
    connection.receive(Array(text.utf8).span)
  }

  /// Ends the client's side of the connection.
  func receiveEnd() {
    transport.recorder.sentEnd()
    connection.receiveEnd()
  }

  /// Ends the turn and returns the lines that the client has received.
  func lines() -> [String] {
    table.flush()
    return transport.lines()
  }

  /// Offers a command that writes one event, and a query that waits for it.
  func offerCommands() {
    var last: UInt64 = 0
    methods["write"] = { [unowned self] call in
      last += 1
      connection.recordWrite(upTo: last)
      call.answer(after: last) { buffer in
        buffer.append(#"{"seq":"#)
        buffer.append(integer: last)
        buffer.append("}")
      }
      return .done
    }
    methods["read"] = { [unowned self] call in
      guard !connection.hasUndurableWrites else { return .later }
      call.answer { [unowned self] buffer in
        buffer.append(#"{"durable":"#)
        buffer.append(integer: table.context.position)
        buffer.append("}")
      }
      return .done
    }
  }
}

/// Returns the line of an answer with a result.
func result(_ id: Int, _ result: String = "{}") -> String {
  #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"#
}

/// Returns a request line.
func request(_ id: Int, _ method: String = "echo") -> String {
  #"{"id":\#(id),"method":"\#(method)"}"# + "\n"
}
