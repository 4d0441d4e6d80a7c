import Connections
import JSON
import Model
import TestSupport
import Testing
import Wire

/// The time limit of a turn: interrupting and continuing clients.
@Suite(.leavesNothing)
struct TurnTimeTests {
  private let bench = Bench()

  /// The number of answers by ``slow`` for each client.
  private final class Runs {
    var byClient: [UInt64: Int] = [:]
  }

  private let runs = Runs()

  init() {
    bench.methods["slow"] = { [time = bench.time, runs] call in
      time.work(nanoseconds: 1_000_000)
      runs.byClient[call.connection.id, default: 0] += 1
      call.answer { $0.append("{}") }
      return .done
    }
  }

  /// Connects another client of a user.
  private func connect(uid: UInt32) -> (connection: Connection, transport: FakeTransport) {
    let connection = bench.table.connect(Peer(uid: uid, pid: 3, groups: [2]))
    let transport = FakeTransport()
    connection.handler = bench.connection.handler
    connection.start(transport)
    return (connection, transport)
  }

  private func send(_ text: String, to client: (connection: Connection, transport: FakeTransport)) {
    client.transport.recorder.sent(Array(text.utf8))
    client.connection.receive(Array(text.utf8).span)
  }

  private func slow(_ count: Int) -> String {
    (1...count).map { request($0, "slow") }.joined()
  }

  @Test
  func `a client with many requests is interrupted, and continues in order in later turns`() {
    expectTurns()
    #expect(bench.lines() == (1...10).map { result($0) })
  }

  /// Expects that of ten requests of a millisecond each two are done at a time, in order.
  private func expectTurns() {
    bench.receive(slow(10))
    for count in [2, 4, 6, 8] {
      #expect(runs.byClient[1] == count)
      #expect(bench.table.flush() == (count < 8))
    }
    #expect(runs.byClient[1] == 10)
  }

  @Test
  func `a commit uses up the part of the turn of those whose events it reports`() {
    let (time, context) = (bench.time, bench.table.context)
    let other = connect(uid: 2)
    context.beginCommit()
    time.work(nanoseconds: 4_000_000)
    context.chargeCommit(to: 1)
    time.work(nanoseconds: 2_000_000)
    context.chargeCommit(to: 2)
    bench.receive(slow(3))
    #expect(runs.byClient[1] == nil)
    send(slow(3), to: other)
    #expect(runs.byClient[other.connection.id] == 2)
    bench.table.flush()
    bench.table.flush()
    #expect(runs.byClient[1] == 2)
    while bench.table.flush() {}
    #expect(runs.byClient[1] == 3)
  }

  @Test
  func `requests that waited for a commit run in its turn only if the user has time left`() {
    bench.offerCommands()
    let busy = connect(uid: 1)
    bench.receive(request(1, "write") + request(2, "read") + request(3, "read"))
    send(slow(10), to: busy)
    bench.table.advance(to: 1)
    bench.table.flush()
    #expect(runs.byClient[busy.connection.id] == 4)
    #expect(bench.transport.lines() == [result(1, #"{"seq":1}"#)])
    bench.table.flush()
    #expect(bench.transport.lines() == [2, 3].map { result($0, #"{"durable":1}"#) })
    while bench.table.flush() {}
  }

  @Test
  func `work for another user within requests uses up their part of the turn`() {
    let (time, context) = (bench.time, bench.table.context)
    bench.methods["slow"] = { [runs] call in
      context.charge(77) { time.work(nanoseconds: 1_000_000) }
      runs.byClient[call.connection.id, default: 0] += 1
      call.answer { $0.append("{}") }
      return .done
    }
    expectTurns()
  }

  @Test
  func `the daemon does not read from an interrupted client`() {
    bench.receive(slow(3))
    #expect(!bench.transport.isReading)
    bench.table.flush()
    #expect(bench.transport.isReading)
  }

  @Test
  func `a batch is interrupted between two of its requests, and answered as one`() {
    let requests = (1...5).map { #"{"id":\#($0),"method":"slow"}"# }
    bench.receive("[" + requests.joined(separator: ",") + "]\n")
    #expect(runs.byClient[1] == 2)
    bench.table.flush()
    #expect(runs.byClient[1] == 4)
    while bench.table.flush() {}
    #expect(bench.lines() == ["[" + (1...5).map { result($0) }.joined(separator: ",") + "]"])
  }

  @Test
  func `a single request is never interrupted`() {
    bench.methods["slower"] = { [time = bench.time] call in
      time.work(nanoseconds: 100_000_000)
      call.answer { $0.append("{}") }
      return .done
    }
    bench.receive(request(1, "slower") + request(2, "slower"))
    #expect(bench.lines() == [result(1)])
    #expect(bench.lines() == [result(2)])
  }

  @Test
  func `all clients of one user share the turn time of one client`() {
    let others = (0..<5).map { _ in connect(uid: 1) }
    bench.receive(slow(4))
    for other in others { send(slow(4), to: other) }
    #expect(runs.byClient.values.reduce(0, +) == 4)
    bench.table.flush()
    #expect(runs.byClient.values.reduce(0, +) == 4)
    // Clients run in turn: first the interrupted one, then those without a turn so far.
    bench.table.flush()
    #expect(runs.byClient.values.reduce(0, +) == 8)
    var turns = 2
    while bench.table.flush() { turns += 1 }
    #expect(turns == 5)
    #expect(runs.byClient.values.allSatisfy { $0 == 4 })
  }

  @Test
  func `another user does not wait for interrupted clients`() {
    let other = connect(uid: 2)
    bench.receive(slow(100))
    send(request(7), to: other)
    #expect(other.transport.lines() == [result(7)])
    while bench.table.flush() {}
    #expect(runs.byClient[1] == 100)
  }

  @Test
  func `an interrupted client that leaves is released`() {
    bench.receive(slow(10))
    bench.connection.end()
    while bench.table.flush() {}
    #expect(runs.byClient[1] == 2)
  }

  @Test
  func `the end of a client's input waits for the requests before it`() {
    bench.receive(slow(5))
    bench.receiveEnd()
    while bench.table.flush() {}
    #expect(bench.lines() == (1...5).map { result($0) })
    #expect(bench.transport.closes == 1)
  }

  /// A value that counts those of its kind.
  private final class Counted {
    private let change: (Int) -> Void

    init(_ change: @escaping (Int) -> Void) {
      self.change = change
      change(1)
    }

    deinit { change(-1) }
  }

  @Test
  func `values are freed before the user's other work makes more`() {
    let context = bench.table.context
    var (count, most, done) = (0, 0, 0)
    for _ in 0..<12 {
      var values: [Counted] = []
      context.addSteps(for: 7) {
        values.append(
          Counted {
            count += $0
            most = max(most, count)
          })
        guard values.count == 500 else { return true }
        done += 1
        var made: [Counted] = []
        swap(&made, &values)
        context.free(made, for: 7)
        return false
      }
    }
    while bench.table.flush() {}
    #expect(done == 12 && count == 0)
    #expect(most == 500, "\(most)")
  }

  @Test
  func `cheap requests are not interrupted`() {
    bench.receive((1...500).map { request($0) }.joined())
    #expect(bench.lines().count == 500)
  }
}
