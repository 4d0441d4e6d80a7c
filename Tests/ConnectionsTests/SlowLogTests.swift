import Connections
import JSON
import Model
import TestSupport
import Testing
import Wire

/// The slow log.
@Suite(.leavesNothing)
struct SlowLogTests {
  private let bench = Bench()

  init() {
    bench.methods["quick"] = { [time = bench.time] call in
      time.work(nanoseconds: 4_000_000)
      call.answer { $0.append("{}") }
      return .done
    }
    bench.methods["slow"] = { [time = bench.time] call in
      time.work(nanoseconds: 6_000_000)
      call.answer { $0.append("{}") }
      return .done
    }
    bench.methods["write"] = { call in
      call.connection.recordWrite(upTo: 7)
      call.answer(after: 7) { $0.append("{}") }
      return .done
    }
  }

  private var shown: SlowRequests { bench.table.slowLog.shown }

  @Test
  func `it is off at first, and keeps every slow request while it is on`() {
    bench.receive(request(1, "slow"))
    bench.table.flush()
    #expect(shown.requests.isEmpty)
    bench.table.setSlowLog(limitMilliseconds: 5, size: 128)
    for i in 2...11 {
      bench.receive(request(i, i % 2 == 0 ? "quick" : "slow"))
      bench.table.flush()
    }
    #expect(shown.count == 5)
    #expect(shown.requests.map(\.total) == [6, 6, 6, 6, 6])
    #expect(shown.requests.allSatisfy { $0.decide == 6 && $0.uid == 1 && $0.commit == nil })
    bench.table.setSlowLog(limitMilliseconds: 0, size: 128)
    bench.receive(request(12, "slow"))
    #expect(shown.count == 5)
  }

  @Test
  func `it keeps the last requests and counts all`() {
    bench.table.setSlowLog(limitMilliseconds: 1, size: 2)
    for (i, name) in ["slow", "quick", "slow", "quick"].enumerated() {
      bench.receive(request(i, name))
      bench.table.flush()
    }
    #expect(shown.requests.map(\.total) == [6, 4])
    #expect(shown.count == 4)
  }

  @Test
  func `the time until the events are durable counts`() {
    bench.table.setSlowLog(limitMilliseconds: 5, size: 2)
    bench.receive(request(1, "write"))
    bench.time.work(nanoseconds: 6_000_000)
    bench.table.advance(to: 6)
    #expect(shown.requests.isEmpty)
    bench.table.advance(to: 7)
    #expect(shown.requests.map(\.commit) == [6])
    bench.table.flush()
  }

  @Test
  func `a command whose events are durable in time is not kept`() {
    bench.table.setSlowLog(limitMilliseconds: 5, size: 2)
    bench.receive(request(1, "write"))
    bench.time.work(nanoseconds: 4_000_000)
    bench.table.advance(to: 7)
    bench.time.work(nanoseconds: 4_000_000)
    bench.table.advance(to: 8)
    bench.table.flush()
    #expect(shown.requests.isEmpty)
  }
}
