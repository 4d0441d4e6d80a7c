import Connections
import Model
import TestSupport
import Testing
import Wire

/// The memory of feeds, which all broadcasts of a daemon share.
@Suite(.leavesNothing)
struct FeedMemoryTests {
  let bench = Bench()

  @Test
  func `frames that clients share are dropped at a limit, and at the end of a turn`() {
    let broadcasts = bench.table.context.broadcasts
    var (most, sent) = (0, 0)
    let long = "\"" + String(repeating: "x", count: 1 << 20) + "\""
    let sources = (0..<8).map { _ in SubscriptionTests.Source() }
    for (i, source) in sources.enumerated() {
      let connection = bench.table.connect(Peer(uid: UInt32(10 + i), pid: 4, groups: [2]))
      let transport = FakeTransport()
      transport.onSend = {
        sent += 1
        most = max(most, broadcasts.encodedBytes)
      }
      connection.lineOut = 2 << 20
      connection.start(transport)
      connection.add(StateSubscription(.number(1), to: source.source("a/\(i)"), on: connection))
    }
    for source in sources { source.set(long) }
    bench.table.flush()
    #expect(sent == 8)
    #expect(most > 1 << 20)
    #expect(most < 6 << 20)
    #expect(broadcasts.encodedBytes == 0)
  }

  @Test
  func `many subscriptions that have fallen behind read small pages`() {
    let (log, context) = (NumberedLog(), bench.table.context)
    log.append(10)
    for i in 1...500 {
      bench.connection.add(
        LogSubscription(.number(i), to: log.source, after: 0, on: bench.connection))
    }
    bench.table.flush()
    #expect(log.limits.count == 500)
    #expect(log.limits.first == 1000)
    #expect(log.limits.last == 256)
    #expect(context.counts.pages == 500)
    log.read()
    #expect(bench.lines().count >= 500)
    #expect(context.counts.pages == 0)
    // Those that end meanwhile do not count.
    bench.connection.add(
      LogSubscription(.number(501), to: log.source, after: 0, on: bench.connection))
    bench.table.flush()
    #expect(context.counts.pages == 1)
    bench.connection.end()
    #expect(context.counts.pages == 0)
    log.read()
  }

  @Test
  func `short entries count with the memory around them`() {
    let log = NumberedLog()
    bench.transport.room = 0
    bench.connection.add(
      LogSubscription(.number(1), to: log.source, after: nil, on: bench.connection))
    log.append(1000)
    bench.table.flush()
    #expect(bench.table.context.broadcasts.windowTotal >= 1000 * MemoryLayout<LogEntry>.stride)
  }
}
