import Connections
import Facts
import TestSupport
import Testing
import Wire

/// The memory of feeds, which all broadcasts of a daemon share.
@Suite(.leavesNothing)
struct FeedMemoryTests {
  let bench = Bench()

  private func watch(_ sources: [SubscriptionTests.Source], on connection: Connection) {
    for (i, source) in sources.enumerated() {
      connection.add(
        StateSubscription(.number(i + 1), to: source.source("a/\(i)"), on: connection))
    }
  }

  @Test
  func `frames that clients share are dropped when they take much memory, and at the end of a turn`()
  {
    let sources = (0..<20).map { _ in SubscriptionTests.Source() }
    bench.connection.lineOut = 2 << 20
    watch(sources, on: bench.connection)
    let long = "\"" + String(repeating: "x", count: 1 << 20) + "\""
    for (i, source) in sources.enumerated() { source.set(long, of: "a/\(i)") }
    let broadcasts = bench.table.context.broadcasts
    var most = 0
    bench.transport.onSend = { most = max(most, broadcasts.encodedBytes) }
    while bench.table.flush() {}
    #expect(bench.transport.lines().count == 20)
    #expect(most > 1 << 20)
    #expect(most < 6 << 20)
    #expect(broadcasts.encodedBytes == 0)
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
