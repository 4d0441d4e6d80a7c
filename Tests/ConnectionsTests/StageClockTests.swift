import Connections
import JSON
import Model
import TestSupport
import Testing
import Wire

/// The measured stages of requests, and the counters.
@Suite(.leavesNothing)
struct StageClockTests {
  private let bench = Bench()

  init() {
    bench.methods["slow"] = { [time = bench.time] call in
      time.work(nanoseconds: 3_000)
      call.answer { $0.append("{}") }
      return .done
    }
  }

  private var stages: StageClock { bench.table.context.stages }

  @Test
  func `the first request is measured, then about one in 64`() {
    bench.receive(request(1, "slow"))
    #expect(stages[.decide].count == 1)
    #expect(stages[.decide].nanoseconds == 3_000)
    for i in 2...6_400 {
      bench.receive(request(i, "slow"))
      bench.table.flush()
    }
    #expect((60...170).contains(stages[.decide].count))
    #expect(stages[.parse].count == stages[.decide].count)
  }

  @Test
  func `a request that waits is measured and counted only when it runs`() {
    var isReady = false
    bench.methods["waiting"] = { call in
      guard isReady else { return .later }
      call.answer { $0.append("{}") }
      return .done
    }
    bench.receive(request(1, "waiting"))
    #expect(stages[.decide].count == 0)
    #expect(bench.table.context.traffic.requests == 0)
    isReady = true
    bench.table.advance(to: 1)
    bench.table.flush()
    #expect(bench.table.context.traffic.requests == 1)
  }

  @Test
  func `bytes, errors and the reason of a disconnect are counted`() {
    let line = request(1, "nothing")
    bench.receive(line)
    let context = bench.table.context
    #expect(context.traffic.connections == 1)
    #expect(context.traffic.receivedBytes == UInt64(line.utf8.count))
    #expect(context.traffic.sentBytes == UInt64(bench.transport.bytes.count))
    #expect(context.traffic.refusals == [.methodNotFound: 1])
    bench.receive("{\n")
    #expect(context.traffic.refusals[.parseError] == 1)
    bench.connection.close(.stalled)
    #expect(context.traffic.disconnects == [.stalled: 1])
  }

  @Test
  func `a client that leaves is counted without a reason`() {
    bench.connection.end()
    #expect(bench.table.context.traffic.disconnects == [nil: 1])
  }
}
