import Connections
import JSON
import Model
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct ConnectionTests {
  let bench = Bench()

  private var error: (String) -> WireError? {
    { line in
      guard case .object(let object)? = try? JSONValue(parsing: line), let error = object["error"]
      else { return nil }
      return WireError(error)
    }
  }

  // MARK: Answers

  @Test
  func `requests are answered in their order, in one write`() {
    bench.receive(request(1) + request(2) + request(3, "nope") + request(4))
    let sends = bench.transport.sends
    let lines = bench.lines()
    #expect(sends == 1)
    #expect(lines.count == 4)
    #expect(lines[0] == result(1))
    #expect(lines[1] == result(2))
    #expect(error(lines[2])?.name == .methodNotFound)
    #expect(lines[3] == result(4))
  }

  @Test
  func `a request without an id runs and is not answered`() {
    var runs = 0
    bench.methods["count"] = { call in
      runs += 1
      call.answer { $0.append("{}") }
      return .done
    }
    bench.receive(#"{"method":"count"}"# + "\n" + #"{"method":"nope"}"# + "\n")
    #expect(runs == 1)
    #expect(bench.lines().isEmpty)
  }

  @Test
  func `blank lines and carriage returns are ignored`() {
    bench.receive("\n\r\n  \n" + #"{"id":1,"method":"echo"}"# + "\r\n")
    #expect(bench.lines() == [result(1)])
  }

  @Test
  func `an invalid line is answered with an error, and the next one works`() {
    bench.receive("{\"id\":1,\n[]\n7\n" + request(2))
    let lines = bench.lines()
    #expect(lines.count == 4)
    #expect(error(lines[0])?.name == .parseError)
    #expect(error(lines[1])?.name == .invalidRequest)
    #expect(error(lines[2])?.name == .invalidRequest)
    #expect(lines[3] == result(2))
  }

  @Test
  func `sixteen invalid lines in a row close the connection, and a valid one resets the count`() {
    for _ in 0..<15 { bench.receive("x\n") }
    bench.receive(request(1))
    for _ in 0..<15 { bench.receive("x\n") }
    #expect(bench.transport.closes == 0)
    bench.receive("x\n" + request(2))
    let lines = bench.lines()
    #expect(lines.count == 33)
    #expect(
      lines.last
        == #"{"jsonrpc":"2.0","method":"closing","params":{"reason":"protocol_abuse","limit":"bad_lines","max":16,"epoch":"e","last":0}}"#
    )
    #expect(bench.transport.closes == 1)
    #expect(bench.table.connections.isEmpty)
  }

  @Test
  func `a line over the limit is refused once, and the next one works`() {
    let bench = Bench { $0.lineIn = 100 }
    for _ in 0..<10 { bench.receive(String(repeating: "x", count: 50)) }
    #expect(bench.lines().map { error($0)?.name } == [.lineTooLong])
    bench.receive("xx\n" + request(1))
    #expect(bench.lines() == [result(1)])
  }

  @Test
  func `an endless line closes the connection`() {
    let bench = Bench {
      $0.lineIn = 100
      $0.flood = 1000
    }
    for _ in 0..<30 { bench.receive(String(repeating: "x", count: 50)) }
    #expect(bench.lines().last?.contains(#""reason":"line_timeout""#) == true)
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `an answer that is longer than the client takes becomes an error`() {
    bench.methods["long"] = { call in
      call.answer { $0.append(quoted: String(repeating: "x", count: 70_000)) }
      return .done
    }
    bench.receive(request(1, "long") + request(2))
    let lines = bench.lines()
    #expect(error(lines[0])?.name == .resultTooLarge)
    #expect(error(lines[0])?.data["max"] == .number(JSONNumber(65536)))
    #expect(lines[1] == result(2))
    bench.connection.lineOut = 100_000
    bench.receive(request(3, "long"))
    #expect(bench.lines().first?.utf8.count ?? 0 > 70_000)
  }

  @Test
  func `a limit that a line changes is the limit of the next line of the same read`() {
    bench.methods["reload"] = { [unowned bench] call in
      bench.table.context.limits.idBytes = 8
      bench.table.refreshLimits()
      call.answer { $0.append(quoted: "x") }
      return .done
    }
    func ask() -> [String] {
      let long = #"{"id":"0123456789","method":"echo"}"# + "\n"
      bench.receive(long + request(2, "reload") + long)
      return bench.lines()
    }
    let lines = ask()
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""result""#))
    #expect(error(lines[2]) != nil, "the id is longer than the new limit")
  }

  // MARK: Batches

  @Test
  func `a batch runs in order and is answered by one array`() {
    bench.receive(
      #"[{"id":1,"method":"echo"},{"method":"echo"},7,{"id":"x","method":"nope"}]"# + "\n")
    let lines = bench.lines()
    #expect(lines.count == 1)
    guard case .array(let answers)? = try? JSONValue(parsing: lines[0]) else {
      Issue.record("no array")
      return
    }
    #expect(answers.count == 3)
    #expect(answers[0].text.text == result(1))
    #expect(error(answers[1].text.text)?.name == .invalidRequest)
    #expect(error(answers[2].text.text)?.name == .methodNotFound)
  }

  @Test
  func `a batch of notifications gets no answer`() {
    bench.receive(#"[{"method":"echo"},{"method":"echo"}]"# + "\n" + request(1))
    #expect(bench.lines() == [result(1)])
  }

  // MARK: Durable before visible

  @Test
  func `an answer waits until its event is durable, and later answers wait behind it`() {
    bench.offerCommands()
    bench.receive(request(1) + request(2, "write") + request(3) + request(4, "write"))
    #expect(bench.lines() == [result(1)])
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(2, #"{"seq":1}"#), result(3)])
    bench.table.advance(to: 2)
    #expect(bench.lines() == [result(4, #"{"seq":2}"#)])
  }

  @Test
  func `a client reads its own writes, and its requests stay in order`() {
    bench.offerCommands()
    bench.receive(request(1, "write") + request(2, "read") + request(3, "write"))
    #expect(bench.lines().isEmpty)
    #expect(!bench.transport.isReading, "the client waits until it may go on")
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(1, #"{"seq":1}"#), result(2, #"{"durable":1}"#)])
    #expect(bench.transport.isReading)
    bench.table.advance(to: 2)
    #expect(bench.lines() == [result(3, #"{"seq":2}"#)])
  }

  @Test
  func `a client reads its own writes within a batch`() {
    bench.offerCommands()
    bench.receive(
      #"[{"id":1,"method":"write"},{"id":2,"method":"read"},{"id":3,"method":"write"}]"# + "\n"
        + request(4))
    #expect(bench.lines().isEmpty)
    bench.table.advance(to: 1)
    #expect(bench.lines().isEmpty, "the batch leaves as a whole")
    bench.table.advance(to: 2)
    #expect(
      bench.lines() == [
        "["
          + [result(1, #"{"seq":1}"#), result(2, #"{"durable":1}"#), result(3, #"{"seq":2}"#)]
          .joined(separator: ",") + "]",
        result(4),
      ])
  }

  @Test
  func `a lost write turns its answers into errors`() {
    bench.offerCommands()
    bench.receive(
      request(1, "write") + request(2, "write") + #"[{"id":3,"method":"write"}]"# + "\n")
    bench.table.advance(to: 1)
    bench.table.reject(WireError(.readOnly, "full", ["reason": .string("ENOSPC")]))
    let lines = bench.lines()
    #expect(lines.count == 3)
    #expect(lines[0] == result(1, #"{"seq":1}"#))
    #expect(error(lines[1])?.name == .readOnly)
    #expect(lines[2].hasPrefix(#"[{"jsonrpc":"2.0","id":3,"error":"#))
    #expect(lines[2].hasSuffix("}]"))
    bench.receive(request(4, "read"))
    #expect(bench.lines() == [result(4, #"{"durable":1}"#)])
  }

  @Test
  func `the number of held answers is limited`() {
    let bench = Bench { $0.held = 4 }
    bench.offerCommands()
    bench.receive((1...10).map { request($0, "write") }.joined())
    #expect(!bench.transport.isReading)
    var answered = 0
    for position in stride(from: 4, through: 10, by: 2) {
      bench.table.advance(to: UInt64(position))
      answered += bench.lines().count
    }
    #expect(answered == 10)
    #expect(bench.transport.isReading)
  }

  // MARK: Late answers

  @Test
  func `answers overtake a late answer`() throws {
    var late: Call?
    bench.methods["late"] = { call in
      late = call.later()
      return .done
    }
    bench.receive(request(1, "late") + request(2))
    #expect(bench.lines() == [result(2)])
    try #require(late).answer { $0.append(#"{"late":true}"#) }
    #expect(bench.lines() == [result(1, #"{"late":true}"#)])
  }

  @Test
  func `a batch waits for its late answers`() throws {
    var late: Call?
    bench.methods["late"] = { call in
      late = call.later()
      return .done
    }
    bench.receive(#"[{"id":1,"method":"late"},{"id":2,"method":"echo"}]"# + "\n")
    #expect(bench.lines().isEmpty)
    try #require(late).answer { $0.append("{}") }
    #expect(bench.lines() == ["[\(result(1)),\(result(2))]"])
  }

  @Test
  func `the number of late answers at a time is limited`() {
    let bench = Bench { $0.inFlight = 2 }
    var late: [Call] = []
    bench.methods["late"] = { call in
      if let call = call.later() { late.append(call) }
      return .done
    }
    bench.receive((1...3).map { request($0, "late") }.joined())
    #expect(bench.lines().compactMap { error($0)?.name } == [.limitReached])
    late.removeFirst().answer { $0.append("{}") }
    bench.receive(request(4, "late"))
    #expect(bench.lines() == [result(1)])
  }

  @Test
  func `an answer to a disconnected client is dropped`() throws {
    var late: Call?
    bench.methods["late"] = { call in
      late = call.later()
      return .done
    }
    bench.receive(request(1, "late"))
    bench.connection.end()
    try #require(late).answer { $0.append("{}") }
    #expect(bench.lines().isEmpty)
  }

  // MARK: Slow clients

  @Test
  func `unsent output waits in order, and is sent later`() {
    bench.transport.room = 20
    bench.receive(request(1) + request(2))
    bench.receive(request(3))
    #expect(bench.lines().isEmpty)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines() == [result(1), result(2), result(3)])
  }

  @Test
  func `the daemon stops reading from a client that does not read its answers`() {
    let bench = Bench { $0.outputSoft = 1000 }
    var runs = 0
    bench.methods["count"] = { call in
      runs += 1
      call.answer { $0.append("{}") }
      return .done
    }
    bench.transport.room = 0
    bench.receive((1...100).map { request($0, "count") }.joined())
    #expect(!bench.transport.isReading)
    #expect(runs < 40)
    #expect(bench.connection.outputBytes < 1200)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines().count == 100)
    #expect(runs == 100)
    #expect(bench.transport.isReading)
    #expect(bench.connection.outputBytes == 0)
  }

  @Test
  func `a client that acts for a user is bounded by that user's limits at once`() {
    let bench = Bench()
    bench.table.context.roleLimits.ofUser = { $0 == 2 ? [.bufferedPerUser: 1 << 16] : [:] }
    bench.table.refreshLimits()
    // Another client of the user, which does not read, uses up the user's buffers.
    let other = (bench.table.connect(Peer(uid: 2, pid: 4, groups: [])), FakeTransport())
    (other.0.handler, other.1.room) = (bench.connection.handler, 0)
    other.0.start(other.1)
    other.0.receive(Array((1...3000).map { request($0) }.joined().utf8).span)
    var runs = 0
    bench.methods["act"] = { [unowned bench] call in
      bench.table.move(bench.connection, to: Peer(uid: 2, pid: 3, groups: []), named: "x")
      call.answer { $0.append("{}") }
      return .done
    }
    bench.methods["count"] = { call in
      runs += 1
      call.answer { $0.append("{}") }
      return .done
    }
    bench.transport.room = 0
    bench.receive(request(0, "act") + (1...500).map { request($0, "count") }.joined())
    #expect(runs > 50 && runs < 200)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines().count == 501)
    other.0.end()
  }

  @Test
  func `each request of a batch is run with the rights that the one before it has left`() {
    let other = Handler { call, _, _ in
      call.answer { $0.append(#"{"by":"other"}"#) }
      return nil
    }
    bench.methods["change"] = { [unowned bench] call in
      bench.connection.handler = other
      call.answer { $0.append("{}") }
      return .done
    }
    bench.methods["drop"] = { [unowned bench] call in
      bench.connection.handler = nil
      call.answer { $0.append("{}") }
      return .done
    }
    let both = #"[{"id":1,"method":"change"},{"id":2,"method":"echo"}]"#
    bench.receive(both + "\n")
    #expect(bench.lines() == ["[\(result(1)),\(result(2, #"{"by":"other"}"#))]"])
    let handler = bench.connection.handler
    bench.connection.handler = Handler { [unowned bench] call, _, _ in
      _ = bench.methods["drop"]?(call)
      return nil
    }
    bench.receive(both + "\n")
    #expect(bench.lines().first?.contains("requests are not handled here") == true)
    bench.connection.handler = handler
  }

  @Test
  func `a client whose socket is broken runs nothing before it is ended`() {
    var runs = 0
    bench.offerCommands()
    bench.methods["count"] = { call in
      runs += 1
      call.answer { $0.append("{}") }
      return .done
    }
    bench.receive(request(1, "write") + request(2, "read") + request(3, "count"))
    bench.transport.isGone = true
    bench.table.advance(to: 1)
    while bench.table.flush() {}
    #expect(runs == 0)
    #expect(bench.connection.isEnded)
  }

  @Test
  func `a client that has ended is freed at once, although it was checked for being slow`() {
    weak var gone: Connection?
    do {
      let slow = (0..<3).map { _ in
        let client = bench.table.connect(Peer(uid: 2, pid: 4, groups: []))
        client.start(FakeTransport())
        client.receive(Array("{".utf8).span)
        return client
      }
      gone = slow[0]
      for client in [slow[1], slow[0], slow[2]] { client.end() }
    }
    bench.table.flush()
    #expect(gone == nil)
  }

  @Test
  func `a client that reads nothing for a minute is disconnected`() {
    bench.transport.room = 10
    bench.receive(request(1))
    bench.time.advance(59_000)
    #expect(bench.transport.closes == 0)
    bench.time.advance(2_000)
    #expect(bench.transport.closes == 1)
    #expect(bench.time.count == 0)
  }

  @Test
  func `a client that reads a little now and then stays connected`() {
    bench.transport.room = 10
    bench.receive((1...20).map { request($0) }.joined())
    for _ in 0..<10 {
      bench.time.advance(50_000)
      bench.transport.room = 10
      bench.connection.becameWritable()
    }
    #expect(bench.transport.closes == 0)
  }

  @Test
  func `an incomplete line closes the connection after half a minute`() {
    bench.receive(#"{"id":1,"#)
    bench.time.advance(29_000)
    bench.receive(#""method""#)
    #expect(bench.transport.closes == 0)
    bench.time.advance(2_000)
    #expect(bench.lines().last?.contains(#""reason":"line_timeout""#) == true)
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `no timer runs for a client without incomplete input or unsent output`() {
    bench.receive(#"{"id":1,"#)
    bench.receive(#""method":"echo"}"# + "\n")
    bench.time.advance(3_000)
    #expect(bench.time.count == 0)
    bench.time.advance(60_000)
    #expect(bench.transport.closes == 0)
  }

  // MARK: Leaving

  @Test
  func `a client that half-closes gets its answers, then the end of the stream`() {
    bench.offerCommands()
    bench.receive(request(1, "write") + #"{"id":2,"method":"read"}"#)
    bench.receiveEnd()
    #expect(bench.lines().isEmpty)
    #expect(bench.transport.closes == 0)
    bench.table.advance(to: 1)
    #expect(bench.lines() == [result(1, #"{"seq":1}"#), result(2, #"{"durable":1}"#)])
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `an end within a line is answered with an error`() {
    bench.receive(#"{"id":1,"meth"#)
    bench.receiveEnd()
    #expect(bench.lines().map { error($0)?.name } == [.parseError])
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `a client without open subscriptions is released when it half-closes`() {
    bench.receiveEnd()
    bench.table.flush()
    #expect(bench.transport.closes == 1)
    #expect(bench.table.connections.isEmpty)
  }

  @Test
  func `a client that vanishes during a send is released once`() {
    bench.transport.isGone = true
    bench.receive(request(1) + request(2))
    bench.table.flush()
    #expect(bench.transport.closes == 1)
    #expect(bench.table.connections.isEmpty)
    bench.connection.end()
    bench.receive(request(3))
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `a client can be released while its request runs`() {
    bench.methods["leave"] = { [unowned bench] call in
      bench.connection.end()
      call.answer { $0.append("{}") }
      return .done
    }
    bench.receive(request(1, "leave") + request(2))
    #expect(bench.lines().isEmpty)
    #expect(bench.transport.closes == 1)
  }

  @Test
  func `an ended connection is released with all its resources`() {
    weak var connection: Connection?
    do {
      let bench = Bench()
      connection = bench.connection
      bench.receive(request(1) + "{")
      bench.connection.end()
      bench.table.flush()
      bench.time.advance(2_000)
    }
    #expect(connection == nil)
  }
}
