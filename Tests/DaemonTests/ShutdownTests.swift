import Glibc
import JSON
import TestSupport
import Testing

/// The shutdown of a busy daemon.
struct ShutdownTests {
  private func set(_ name: String) -> String {
    #"{"id":"\#(name)","method":"cells.set","params":["\#(name)",1]}"#
  }

  /// Starts a daemon on a disk that the test holds later.
  private func start() throws -> (daemon: DaemonProcess, disk: DiskGate) {
    let disk = try DiskGate()
    return (try DaemonProcess(wrapper: disk.wrapper), disk)
  }

  /// Waits until the daemon shuts down: it accepts no more clients.
  private func waitForShutdown(_ daemon: DaemonProcess) {
    #expect(holds { access(daemon.socket, F_OK) != 0 })
  }

  /// Expressions that wait for a time, and a value for their source.
  private static let timed = [
    #"every("22:00") | constant("night") ~> cells/mode"#, "every(1h) ~> cells/tick",
    "cells/a | debounce(1h) ~> cells/b", "cells/a | sample(1h) ~> cells/b",
    #"system/load | pick("/one") ~> cells/load"#,
  ]

  @Test(arguments: timed)
  func `a binding that waits for a time does not keep the daemon from ending`(
    expression: String
  ) throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let text = JSONValue.string(expression).text.text
    _ = try client.result(
      #"{"id":1,"method":"bind","params":{"expr":\#(text),"binding":"b","scope":"daemon"}}"#)
    _ = try client.call(set("a"))
    #expect(daemon.end() == 0)
    try daemon.start()
    #expect(daemon.end() == 0)
  }

  @Test
  func `a start that fails ends, also with a binding of a file that waits for a time`() throws {
    let daemon = try DaemonProcess()
    let directory = daemon.directory + "/bind.d"
    mkdir(directory, 0o700)
    let files = Self.timed.enumerated().map { "b\($0): \($1)\n" }.joined()
    Files.write(files, to: directory + "/a.bind")
    let second = try DaemonProcess(
      ["--journal", daemon.directory + "/other.db", "--bind-dir", directory],
      in: daemon.directory, waits: false)
    #expect(second.waitForEnd() == EX_UNAVAILABLE)
  }

  @Test(.needs("gcc"))
  func `requests before the shutdown are answered, even if the disk is slow`() throws {
    let (slow, disk) = try start()
    let client = try TestSocket(slow.socket)
    let watcher = try TestSocket(slow.socket)
    _ = try watcher.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/**","sub":"w"}}"#)
    disk.hold()
    try client.send(set("a"), set("b"), #"{"method":"cells.set","params":["c",1]}"#)
    try client.send(#"{"id":"d","method":"get","params":["cells/c"]}"#)
    #expect(try slow.hasInFlight(events: 3))
    kill(slow.pid, SIGTERM)
    waitForShutdown(slow)
    #expect(client.isSilent())
    disk.release()
    #expect(slow.waitForEnd() == 0)
    let answers = try client.lines()
    try #require(answers.count == 4)
    #expect(answers[0].contains(#""id":"a","result":{"value":1,"seq":1"#))
    #expect(answers[1].contains(#""id":"b","result":{"value":1,"seq":2"#))
    #expect(answers[2].contains(#""id":"d","result""#) && answers[2].contains(#""value":1"#))
    #expect(answers[3].contains(#""reason":"shutdown""#) && answers[3].contains(#""last":3"#))
    let frames = try watcher.lines()
    #expect(frames.count == 4)
    #expect(frames.last?.contains(#""last":3"#) == true)
  }

  @Test(.needs("gcc"))
  func `the shutdown waits for writes without an id, and runs the requests behind them`()
    throws
  {
    let (slow, disk) = try start()
    let client = try TestSocket(slow.socket)
    disk.hold()
    try client.send(
      #"{"method":"cells.set","params":["c",1]}"#,
      #"{"id":"d","method":"get","params":["cells/c"]}"#)
    #expect(try slow.hasInFlight(events: 1))
    kill(slow.pid, SIGTERM)
    waitForShutdown(slow)
    disk.release()
    #expect(slow.waitForEnd() == 0)
    let lines = try client.lines()
    #expect(lines.first?.contains(#""id":"d","result""#) == true)
    #expect(lines.count == 2)
  }

  @Test(.needs("gcc"))
  func `25: simultaneous signals count as one, and all requests are answered first`() throws {
    let (slow, disk) = try start()
    let client = try TestSocket(slow.socket)
    disk.hold()
    for i in 0..<100 { try client.send(set("n\(i)")) }
    #expect(try slow.hasInFlight(events: 100))
    for _ in 0..<5 {
      for signal in [SIGTERM, SIGINT, SIGHUP] { kill(slow.pid, signal) }
    }
    waitForShutdown(slow)
    disk.release()
    let answers = try client.lines()
    #expect(answers.count == 101)
    #expect(answers.dropLast().allSatisfy { $0.contains(#""result":{"value":1,"seq""#) })
    #expect(answers.last?.contains(#""reason":"shutdown""#) == true)
    #expect(slow.waitForEnd() == 0)
  }

  @Test(.needs("gcc"))
  func `25: after a second signal the daemon waits for the disk, but not for slow clients`() throws
  {
    let (slow, disk) = try start()
    let client = try TestSocket(slow.socket)
    disk.hold()
    try client.send(set("a"))
    #expect(try slow.hasInFlight(events: 1))
    for _ in 0..<2 {
      kill(slow.pid, SIGTERM)
      #expect(client.isSilent(for: 1_200))
    }
    disk.release()
    let answers = try client.lines()
    #expect(answers.count == 2)
    #expect(answers.first?.contains(#""id":"a","result""#) == true)
    #expect(answers.last?.contains(#""reason":"shutdown""#) == true)
    #expect(slow.waitForEnd() == 0)
  }

  @Test(.needs("gcc"))
  func `25: a third signal ends the daemon immediately`() throws {
    let (slow, disk) = try start()
    let client = try TestSocket(slow.socket)
    disk.hold()
    try client.send(set("a"))
    #expect(try slow.hasInFlight(events: 1))
    for _ in 0..<2 {
      kill(slow.pid, SIGTERM)
      #expect(client.isSilent(for: 1_200))
    }
    // A daemon that has handled an earlier signal late takes this one for the same shutdown.
    #expect(
      holds {
        kill(slow.pid, SIGTERM)
        return !client.isSilent(for: 1_200)
      })
    #expect(slow.waitForEnd() == 1)
    #expect(try client.lines().isEmpty)
  }

  // MARK: 25: signals at bad times

  /// Returns a journal with a long replay, and the wrapper for a daemon on it.
  private func longReplay(_ manager: ServiceManagerSocket) throws -> (DaemonProcess, [String]) {
    let wrapper = Disturbance.wrapper("pread64:delay_enter=30000")
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let text = String(repeating: "x", count: 3_000)
    for i in 0..<100 {
      try client.send(#"{"id":\#(i),"method":"cells.set","params":["n\#(i)","\#(text)"]}"#)
    }
    for _ in 0..<100 { #expect(try client.line()?.contains(#""seq""#) == true) }
    client.close()
    daemon.end(SIGKILL)
    return (daemon, manager.wrapper + wrapper)
  }

  @Test(.needs("strace"))
  func `25: SIGHUP does not end a replay`() throws {
    let manager = try ServiceManagerSocket()
    let (daemon, wrapper) = try longReplay(manager)
    let slow = try DaemonProcess(wrapper: wrapper, in: daemon.directory, waits: false)
    #expect(manager.wait(for: "STATUS=replaying 0/100"))
    kill(slow.pid, SIGHUP)
    #expect(manager.wait(for: "STATUS=serving"))
    let client = try TestSocket(slow.socket)
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""last":100"#))
  }

  @Test(.needs("strace"))
  func `25: an interrupted replay can be repeated`() throws {
    let manager = try ServiceManagerSocket()
    let (daemon, wrapper) = try longReplay(manager)
    for _ in 0..<2 {
      let slow = try DaemonProcess(wrapper: wrapper, in: daemon.directory, waits: false)
      #expect(manager.wait(for: "STATUS=replaying 0/100"))
      #expect(slow.end() == -SIGTERM, "nothing is in hand yet")
    }
    try daemon.start()
    let client = try TestSocket(daemon.socket)
    #expect(try client.call(#"{"id":1,"method":"ping"}"#).contains(#""last":100"#))
  }

  @Test
  func `25: an interrupted catch-up resumes after the last sent event`() throws {
    let daemon = try DaemonProcess()
    let writer = try TestSocket(daemon.socket)
    let text = String(repeating: "x", count: 4_000)
    let count = 3_000
    for _ in 0..<count {
      try writer.send(#"{"method":"cells.set","params":["n","\#(text)"]}"#)
    }
    #expect(try writer.call(#"{"id":1,"method":"ping"}"#).contains(#""last":\#(count)"#))
    func subscribe(_ rest: String) throws -> TestSocket {
      let reader = try TestSocket(daemon.socket)
      _ = try reader.call(
        #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e",\#(rest)}}"#)
      return reader
    }
    let reader = try subscribe(#""from":"start""#)
    var last = 0
    func isNext(_ line: String) -> Bool {
      last += 1
      return line.contains(#""method":"next","params":{"sub":"e","seq":\#(last),"#)
    }
    for _ in 0..<100 { #expect(isNext(try reader.line() ?? "")) }
    kill(daemon.pid, SIGTERM)
    // The stream of a reader that is slower than the grace period may end within a line.
    func rest() -> String { (try? reader.line()).flatMap { $0 } ?? "" }
    var line = rest()
    while line.contains(#""method":"next""#) {
      #expect(isNext(line))
      line = rest()
    }
    // If its socket is full at the end of the grace period, `closing` cannot be sent.
    #expect(
      line.isEmpty || line.contains(#""method":"closing""#)
        || line.contains(#""method":"caught_up""#), "\(line)")
    #expect(daemon.waitForEnd() == 0)
    try daemon.start()
    let epoch = try daemon.epoch()?.text.text ?? ""
    let again = try subscribe(#""from":{"after":\#(last)},"epoch":\#(epoch)"#)
    while last < count { #expect(isNext(try again.line() ?? "")) }
    #expect(try again.line()?.contains(#""method":"caught_up""#) == true)
  }

  @Test
  func `a client that does not read delays the shutdown by the grace period only`() throws {
    let daemon = try DaemonProcess()
    let client = try TestSocket(daemon.socket)
    let text = String(repeating: "x", count: 50_000)
    _ = try client.call(#"{"id":1,"method":"cells.set","params":["big","\#(text)"]}"#)
    try client.send(
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"e","from":"start"}}"#)
    let asks = String(
      repeating: #"{"id":3,"method":"get","params":["cells/big"]}"# + "\n", count: 20)
    try client.send(bytes: Array(asks.utf8))
    let other = try TestSocket(daemon.socket)
    #expect(
      try holds {
        guard
          case .object(let stats)? = try other.result(#"{"id":1,"method":"stats"}"#)["stats"]
        else { return false }
        return stats["output_bytes"] != .number(JSONNumber(0))
      })
    other.close()
    let start = milliseconds()
    #expect(daemon.end() == 0)
    #expect(milliseconds() - start >= 1_500)
  }
}
