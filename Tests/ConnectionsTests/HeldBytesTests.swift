import Connections
import JSON
import Model
import TestSupport
import Testing
import Wire

/// The memory that the daemon holds for a client, and for all clients of a user.
@Suite(.leavesNothing)
struct HeldBytesTests {
  private let bench: Bench

  /// Connects another client to a bench.
  private func connect(
    _ bench: Bench, uid: UInt32 = 1
  ) -> (connection: Connection, transport: FakeTransport) {
    let connection = bench.table.connect(Peer(uid: uid, pid: 3, groups: [2]))
    let transport = FakeTransport()
    transport.recorder.maxLine = bench.table.context.limits.lineIn
    connection.handler = bench.connection.handler
    connection.start(transport)
    return (connection, transport)
  }

  private func send(_ text: String, to client: (connection: Connection, transport: FakeTransport)) {
    client.transport.recorder.sent(Array(text.utf8))
    client.connection.receive(Array(text.utf8).span)
  }

  /// Returns the name of the error in a line; `nil` if it has none.
  private func name(of line: String) -> String? {
    guard case .object(let object)? = try? JSONValue(parsing: line), let error = object["error"]
    else { return nil }
    return WireError(error)?.name.rawValue
  }

  init() {
    bench = Bench { limits in
      limits.bufferedPerUser = 100_000
      limits.outputSoft = 50_000
    }
    bench.methods["long"] = { call in
      call.answer { $0.append(#"{"value":""# + String(repeating: "x", count: 30_000) + #""}"#) }
      return .done
    }
  }

  @Test
  func `the limits of a role apply to a user for whom values were held before`() {
    let context = bench.table.context
    context.roleLimits.ofUser = { $0 == 5 ? [.memoryPerUser: 4 << 20] : [:] }
    context.charge(100, to: 5)
    #expect(throws: WireError.self) { try context.checkMemory(for: 4 << 20, of: 5) }
    let client = connect(bench, uid: 5)
    #expect(client.connection.limits.memoryPerUser == 4 << 20)
    client.connection.end()
    context.charge(-100, to: 5)
  }

  // MARK: Input

  @Test
  func `incomplete lines are refused when too many bytes are held for the user`() {
    let clients = (0..<6).map { _ in connect(bench) }
    let part = #"{"id":1,"method":"echo","params":[""# + String(repeating: "a", count: 20_000)
    for client in clients {
      client.transport.isOrderChecked = false  // a line is answered before its end
      send(part, to: client)
    }
    bench.table.flush()
    let refused = clients.map { $0.transport.lines().first.flatMap(name) }
    #expect(refused == [nil, nil, nil, nil, "overloaded", "overloaded"])
    // An accepted line runs at its end; the rest of a refused line is dropped.
    for client in clients { send(#""]}"# + "\n", to: client) }
    send(request(2), to: clients[5])
    #expect(clients[0].transport.lines() == [result(1)])
    #expect(clients[5].transport.lines() == [result(2)])
  }

  @Test
  func `the held bytes of one user do not limit another`() {
    let clients = (0..<6).map { _ in connect(bench) }
    let other = connect(bench, uid: 2)
    let part = #"{"id":1,"method":"echo","params":[""# + String(repeating: "a", count: 20_000)
    for client in clients + [other] { send(part, to: client) }
    #expect(other.transport.lines().isEmpty)
    send(#""]}"# + "\n", to: other)
    #expect(other.transport.lines() == [result(1)])
  }

  @Test
  func `held bytes are released when their client leaves`() {
    let clients = (0..<6).map { _ in connect(bench) }
    let part = #"{"id":1,"method":"echo","params":[""# + String(repeating: "a", count: 20_000)
    for client in clients {
      send(part, to: client)
      client.connection.end()
    }
    let late = connect(bench)
    send(part, to: late)
    #expect(late.transport.lines().isEmpty)
  }

  // MARK: Output

  @Test
  func `unread answers are refused when too many bytes are held for the user`() {
    let clients = (0..<5).map { _ in connect(bench) }
    for client in clients {
      client.transport.room = 0
      send(request(1, "long"), to: client)
    }
    for client in clients { client.transport.room = .max }
    let answers = clients.map { client -> String? in
      client.connection.becameWritable()
      return client.transport.lines().first.flatMap(name)
    }
    #expect(answers == [nil, nil, nil, nil, "overloaded"])
    send(request(2, "long"), to: clients[4])
    #expect(name(of: clients[4].transport.lines()[0]) == nil)
  }

  @Test
  func `the daemon reads from a client that does not read only up to its share`() {
    bench.transport.room = 0
    bench.receive((1...10).map { request($0, "long") }.joined())
    #expect(bench.connection.outputBytes < 100_000)
    #expect(!bench.transport.isReading)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines().count == 10)
  }

  @Test
  func `a line longer than output_hard reaches a client that asked for long lines`() {
    let bench = Bench { limits in
      limits.outputHard = 100_000
      limits.outputSoft = 10_000
      limits.lineOut = 300_000
      limits.lineIn = 300_000
    }
    bench.methods["longest"] = { call in
      call.answer { $0.append(#"{"value":""# + String(repeating: "x", count: 250_000) + #""}"#) }
      return .done
    }
    bench.transport.room = 4_000
    bench.receive(request(1, "longest") + request(2))
    while bench.connection.outputBytes > 0 {
      bench.transport.room = 4_000
      bench.connection.becameWritable()
    }
    let lines = bench.lines()
    #expect(bench.transport.closes == 0)
    #expect(lines.count == 2)
    #expect(lines[0].utf8.count > 250_000)
  }

  // MARK: Batches

  @Test
  func `answers of a batch are encoded only while there is room for them`() {
    var rooms: [Int] = []
    bench.methods["room"] = { call in
      rooms.append(call.room)
      call.answer { $0.append(#"{"value":""# + String(repeating: "x", count: 20_000) + #""}"#) }
      return .done
    }
    let requests = (1...10).map { #"{"id":\#($0),"method":"room"}"# }
    bench.receive("[" + requests.joined(separator: ",") + "]\n")
    let line = bench.lines()[0]
    guard case .array(let answers)? = try? JSONValue(parsing: line) else {
      return #expect(Bool(false))
    }
    let names = answers.map { name(of: $0.text.text) }
    #expect(names == [nil, nil, nil] + Array(repeating: "result_too_large", count: 7))
    #expect(line.utf8.count <= 64 << 10)
    #expect(rooms[0] > 60_000)
    #expect(rooms[3] < 5_000)
  }

  // MARK: Async calls

  @Test
  func `async calls with long answers are limited by the output limit of the client`() {
    var calls: [Call] = []
    bench.connection.handler = Handler { call, _, _ in
      guard call.connection.hasRoomForLate else { return .late }
      if let late = call.later(isLong: true) { calls.append(late) }
      return nil
    }
    bench.receive(request(1, "late") + request(2, "late"))
    #expect(calls.count == 1)
    calls[0].answer { $0.append("{}") }
    #expect(bench.lines() == [result(1)])
    #expect(calls.count == 2)
    calls[1].answer { $0.append("{}") }
    #expect(bench.lines() == [result(2)])
  }

  @Test
  func `simultaneous answers to async calls wait until the client reads`() {
    var calls: [Call] = []
    bench.connection.handler = Handler { call, _, _ in
      if let late = call.later(waitingFor: "cells/n") { calls.append(late) }
      return nil
    }
    bench.receive((1...20).map { request($0, "late") }.joined())
    bench.transport.room = 0
    for call in calls {
      bench.connection.whenTaken {
        call.answer { $0.append(#"{"value":""# + String(repeating: "x", count: 30_000) + #""}"#) }
      }
    }
    bench.table.flush()
    #expect(bench.connection.outputBytes < 100_000)
    bench.transport.room = .max
    bench.connection.becameWritable()
    while bench.table.flush() {}
    #expect(bench.lines().count == 20)
  }

  // MARK: Commands

  @Test
  func `commands without an id count as held bytes too`() {
    let bench = Bench { $0.held = 3 }
    bench.offerCommands()
    bench.receive(String(repeating: #"{"method":"write"}"# + "\n", count: 5))
    #expect(bench.connection.heldCount == 3)
    #expect(!bench.transport.isReading)
    bench.table.advance(to: 3)
    #expect(bench.lines().isEmpty)
    #expect(bench.connection.heldCount == 2)
    #expect(bench.transport.isReading)
  }

  @Test
  func `a client that sends before it reads is limited by the bytes of its answers`() {
    let bench = Bench { $0.held = 3 }
    bench.offerCommands()
    bench.transport.room = 10
    bench.receive((1...9).map { request($0, "write") }.joined())
    var position: UInt64 = 0
    while position < 9 {
      position += 3
      bench.table.advance(to: position)
      bench.table.flush()
    }
    #expect(bench.connection.heldCount == 0)
    #expect(bench.transport.isReading)
    bench.transport.room = .max
    bench.connection.becameWritable()
    #expect(bench.lines().count == 9)
  }
}
