import Connections
import JSON
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Several clients with subscriptions to the same source, which share their frames.
@Suite(.leavesNothing)
struct SharedFrameTests {
  let bench = Bench()

  /// A client besides the one of the bench.
  struct Other {
    let connection: Connection
    let transport = FakeTransport()

    init(_ bench: Bench, lineOut: Int = 64 << 10, takesItems: Bool = false) {
      connection = bench.table.connect(Peer(uid: 1, pid: 4, groups: [2]))
      connection.lineOut = lineOut
      connection.takesItems = takesItems
      connection.start(transport)
    }

    func follow(_ log: NumberedLog, as handle: Handle, where wanted: ((LogEntry) -> Bool)? = nil) {
      connection.add(
        LogSubscription(handle, to: log.source, where: wanted, after: nil, on: connection))
    }

    func watch(_ source: SubscriptionTests.Source, as handle: Handle) {
      connection.add(StateSubscription(handle, to: source.source(), on: connection))
    }
  }

  private func next(_ handle: String, _ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":\#(handle),\#(rest)}}"#
  }

  private func next(_ handle: String, _ seqs: some Sequence<Int>) -> [String] {
    seqs.map { next(handle, #""seq":\#($0)"#) }
  }

  // MARK: Every change

  @Test
  func `clients with equal and with different handles get the same entries`() {
    let log = NumberedLog()
    let others = (0..<4).map { _ in Other(bench) }
    others[0].follow(log, as: .number(1))
    others[1].follow(log, as: .name("long-name"))
    others[2].follow(log, as: .number(1))
    others[3].follow(log, as: .number(2), where: { $0.seq % 2 == 0 })
    for first in [1, 4] {
      log.append(3)
      bench.table.flush()
      #expect(others[0].transport.lines() == next("1", first..<first + 3))
      #expect(others[1].transport.lines() == next(#""long-name""#, first..<first + 3))
      #expect(others[2].transport.lines() == next("1", first..<first + 3))
      #expect(
        others[3].transport.lines() == next("2", (first..<first + 3).filter { $0 % 2 == 0 }))
    }
    #expect(others.allSatisfy { $0.transport.sends == 2 })
  }

  @Test
  func `a line too long for one client ends its subscription only`() {
    let log = NumberedLog()
    let (wide, narrow) = (Other(bench), Other(bench, lineOut: 1024))
    wide.follow(log, as: .number(1))
    narrow.follow(log, as: .number(1))
    log.append(2)
    log.append(1, filler: #","x":""# + String(repeating: "x", count: 1024) + #"""#)
    log.append(1)
    bench.table.flush()
    #expect(wide.transport.lines().count == 4)
    let lines = narrow.transport.lines()
    #expect(lines.prefix(2) == next("1", 1...2)[...])
    #expect(lines.count == 3)
    #expect(lines.last?.contains(#""fail""#) == true)
    #expect(lines.last?.contains(#""seq":3"#) == true)
    #expect(narrow.connection.subscriptions.isEmpty)
    #expect(wide.connection.subscriptions.count == 1)
  }

  @Test
  func `clients that take several entries in a line share it with clients of the same limit`() {
    let log = NumberedLog()
    let limits = [64 << 10, 64 << 10, 1024]
    let takers = limits.map { Other(bench, lineOut: $0, takesItems: true) }
    let plain = Other(bench)
    takers[0].follow(log, as: .number(1))
    plain.follow(log, as: .number(1))
    takers[1].follow(log, as: .name("b"))
    takers[2].follow(log, as: .number(1))
    log.append(100)
    bench.table.flush()
    let items = (1...100).map { #"{"seq":\#($0)}"# }.joined(separator: ",")
    #expect(takers[0].transport.lines() == [next("1", #""seq":100,"items":[\#(items)]"#)])
    #expect(takers[1].transport.lines() == [next(#""b""#, #""seq":100,"items":[\#(items)]"#)])
    #expect(plain.transport.lines() == next("1", 1...100))
    let narrow = takers[2].transport.lines()
    #expect(narrow.count > 1)
    #expect(narrow.allSatisfy { $0.utf8.count < 1024 })
    #expect(narrow.last?.contains(#""seq":100,"items""#) == true)
  }

  @Test
  func `a slow client beside a fast one misses nothing`() {
    let log = NumberedLog()
    let (fast, slow) = (Other(bench), Other(bench))
    fast.follow(log, as: .number(1))
    slow.follow(log, as: .number(1))
    log.append(2)
    slow.transport.room = 10
    bench.table.flush()
    log.append(3)
    bench.table.flush()
    #expect(fast.transport.lines() == next("1", 1...5))
    log.append(1)
    slow.transport.room = .max
    slow.connection.becameWritable()
    bench.table.flush()
    #expect(fast.transport.lines() == next("1", 6...6))
    #expect(slow.transport.lines() == next("1", 1...6))
  }

  @Test
  func `more than a chunk reaches clients with different handles in order`() {
    let log = NumberedLog()
    let (one, two) = (Other(bench), Other(bench))
    one.follow(log, as: .number(1))
    two.follow(log, as: .number(22))
    let filler = #","x":""# + String(repeating: "x", count: 1000) + #"""#
    log.append(400, filler: filler)
    while bench.table.flush() {}
    for (client, handle) in [(one, "1"), (two, "22")] {
      let expected = (1...400).map { next(handle, "\"seq\":\($0)\(filler)") }
      #expect(client.transport.lines() == expected)
    }
  }

  // MARK: Newest value

  @Test
  func `clients with different handles and limits get the newest value`() {
    let source = SubscriptionTests.Source()
    let clients = [Other(bench), Other(bench, lineOut: 1024), Other(bench)]
    clients[0].watch(source, as: .number(1))
    clients[1].watch(source, as: .number(1))
    clients[2].watch(source, as: .name("c"))
    source.set("1")
    bench.table.flush()
    let long = #"""# + String(repeating: "x", count: 1024) + #"""#
    source.set(long)
    bench.table.flush()
    #expect(
      clients[0].transport.lines()
        == [next("1", #""seq":1,"value":1"#), next("1", #""seq":2,"value":\#(long)"#)])
    #expect(
      clients[2].transport.lines()
        == [next(#""c""#, #""seq":1,"value":1"#), next(#""c""#, #""seq":2,"value":\#(long)"#)])
    let lines = clients[1].transport.lines()
    #expect(lines.first == next("1", #""seq":1,"value":1"#))
    #expect(lines.last?.contains(#""fail""#) == true)
    #expect(lines.count == 2)
  }

  @Test
  func `a slow client beside fast ones gets the newest value and its own count of skipped ones`() {
    let source = SubscriptionTests.Source()
    let clients = (0..<3).map { _ in Other(bench) }
    for client in clients { client.watch(source, as: .number(1)) }
    let slow = clients[1].transport
    slow.room = 0
    for value in 1...3 {
      source.set("\(value)")
      bench.table.flush()
    }
    source.set("4")
    slow.room = .max
    clients[1].connection.becameWritable()
    bench.table.flush()
    let all = (1...4).map { next("1", #""seq":\#($0),"value":\#($0)"#) }
    #expect(clients[0].transport.lines() == all)
    #expect(clients[2].transport.lines() == all)
    #expect(slow.lines() == [all[0], next("1", #""seq":4,"value":4,"skipped":2"#)])
  }

  @Test
  func `a change between two clients of a turn reaches each with its own value`() {
    let source = SubscriptionTests.Source()
    let (early, late) = (Other(bench), Other(bench))
    early.watch(source, as: .number(1))
    late.watch(source, as: .number(1))
    source.set("1")
    source.set("2")
    early.connection.becameWritable()
    bench.table.flush()
    source.set("3")
    late.connection.becameWritable()
    bench.table.flush()
    let second = next("1", #""seq":2,"value":2,"skipped":1"#)
    #expect(early.transport.lines() == [second, next("1", #""seq":3,"value":3"#)])
    #expect(late.transport.lines() == [second, next("1", #""seq":3,"value":3"#)])
  }
}
