import Glibc
import JSON
import Testing

/// Fault 15 with several writing and watching clients.
struct KilledCrowdTests {
  /// A client that subscribes, and resumes at its position after each kill.
  private final class Watcher {
    private let parameters: String
    private var socket: TestSocket?
    private var epoch = ""

    /// The received frames without their handle, by position.
    private(set) var told: [String] = []

    init(_ parameters: String) {
      self.parameters = parameters
    }

    func connect(_ path: String) throws {
      let socket = try TestSocket(path)
      self.socket = socket
      let known = epoch.isEmpty ? "" : #","epoch":"\#(epoch)""#
      let answer = try socket.result(
        #"{"id":1,"method":"subscribe","params":{\#(parameters),"sub":"w","from":{"after":\#(told.count)}\#(known)}}"#
      )
      guard case .string(let epoch)? = answer["epoch"] else {
        Issue.record("not resumed: \(JSONValue.object(answer).text.text)")
        return
      }
      self.epoch = epoch
    }

    /// Takes the received lines.
    func listen() throws {
      guard let socket else { return }
      while !socket.isSilent(for: 2), let line = try socket.line() { take(line) }
    }

    /// Takes the lines received before the kill.
    func finish() {
      // The last line may be incomplete.
      while let line = try? socket?.line() { take(line) }
      socket?.close()
      socket = nil
    }

    func listen(upTo last: Int) throws {
      while told.count < last, let line = try socket?.line() { take(line) }
    }

    private func take(_ line: String) {
      guard case .object(let frame)? = try? JSONValue(parsing: line),
        frame["method"] == .string("next"), case .object(let params)? = frame["params"]
      else { return }
      #expect(params["seq"] == .number(JSONNumber(told.count + 1)), "no gap and no repeat")
      told.append(line)
    }
  }

  /// A client that increments cells and records the answers.
  private final class Writer {
    let number: Int
    private var socket: TestSocket?
    private var lastCommand = 0

    /// Commands without an answer, oldest first.
    private var open: [Int] = []

    /// The number of sent increments without an id and an idempotency key.
    private(set) var sent = 0
    private(set) var confirmed = 0

    var commands: Int { lastCommand }

    init(_ number: Int) {
      self.number = number
    }

    private func add(_ command: Int) -> String {
      #"{"id":\#(command),"method":"cells.add","params":{"name":"sure\#(number)","by":1,"_meta":{"cmd":"\#(number)-\#(command)"}}}"#
    }

    /// Repeats the unanswered commands, and sends more.
    func ask(_ path: String, more count: Int) throws {
      let socket = try TestSocket(path)
      self.socket = socket
      lastCommand += count
      open += (lastCommand - count)..<lastCommand
      for (i, command) in open.enumerated() {
        if i % 3 == 0 {
          // These get no answer; a ping after them confirms that they are durable.
          try socket.send(
            #"{"method":"cells.add","params":{"name":"maybe\#(number)","by":1}}"#,
            #"{"id":"kept","method":"ping"}"#)
          sent += 1
        }
        try socket.send(
          command % 2 == 0
            ? add(command) : "[\(add(command)),{\"id\":\"x\",\"method\":\"ping\"}]")
      }
    }

    /// Takes answers until `count` are left open.
    func listen(to count: Int) throws {
      var rest = count
      while rest > 0, !open.isEmpty, let line = try socket?.line() {
        take(line)
        rest -= 1
      }
    }

    func listenToAll() throws {
      try listen(to: .max)
      socket?.close()
    }

    /// Takes the lines received before the kill.
    func finish() {
      while let line = try? socket?.line() { take(line) }
      socket?.close()
    }

    private func take(_ line: String) {
      if line.contains(#""id":"kept""#) {
        confirmed += 1
      } else if let command = open.first, line.contains(#""id":\#(command),"result""#) {
        open.removeFirst()
      } else {
        Issue.record("\(line), and not the answer of \(open.prefix(1))")
      }
    }
  }

  @Test
  func
    `15: clients across kills lose no command, and watchers miss and repeat no frame`()
    throws
  {
    let daemon = try DaemonProcess()
    let writers = (0..<4).map(Writer.init)
    let watchers = [
      Watcher(#""source":"events""#), Watcher(#""source":"cells/**","mode":"every""#),
    ]
    for round in 0..<30 {
      for watcher in watchers { try watcher.connect(daemon.socket) }
      for writer in writers { try writer.ask(daemon.socket, more: Int.random(in: 5...40)) }
      if round % 3 > 0 {
        for writer in writers { try writer.listen(to: Int.random(in: 0..<40)) }
      }
      if round % 2 == 0 { for watcher in watchers { try watcher.listen() } }
      try daemon.killAndStart()
      for writer in writers { writer.finish() }
      for watcher in watchers { watcher.finish() }
    }
    for writer in writers {
      try writer.ask(daemon.socket, more: 0)
      try writer.listenToAll()
    }

    let client = try TestSocket(daemon.socket)
    func count(_ cell: String) throws -> Int {
      let value = try client.result(#"{"id":1,"method":"get","params":["cells/\#(cell)"]}"#)[
        "value"]
      guard case .number(let number)? = value else { return -1 }
      return Int(number.int64 ?? -1)
    }
    var last = 0
    for writer in writers {
      let (sure, maybe) = (try count("sure\(writer.number)"), try count("maybe\(writer.number)"))
      #expect(sure == writer.commands)
      #expect(writer.confirmed...writer.sent ~= maybe)
      last += sure + maybe
    }
    for watcher in watchers {
      try watcher.connect(daemon.socket)
      try watcher.listen(upTo: last)
    }
    // The frames received across kills equal those of one uninterrupted subscription.
    for (watcher, source) in zip(
      watchers, [#""source":"events""#, #""source":"cells/**","mode":"every""#])
    {
      let fresh = Watcher(source)
      try fresh.connect(daemon.socket)
      try fresh.listen(upTo: last)
      #expect(fresh.told.count == last)
      #expect(fresh.told == watcher.told, "nothing that was seen is gone or means something else")
    }
    client.close()
    #expect(daemon.end() == 0)
  }
}
