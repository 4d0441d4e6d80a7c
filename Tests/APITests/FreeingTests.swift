import API
import BinderTesting
import Connections
import EventSourcing
import JSON
import JournalMemory
import TestSupport
import Testing

/// Much that is done with is freed in the time of its user, a part at a time.
///
/// The tests count objects and steps; each look at the clock costs 0.1 ms.
@Suite(.leavesNothing)
struct FreeingTests {
  /// The live rows.
  private final class Counter {
    var count = 0
  }

  /// A row that is counted while it lives.
  private final class CountedRow: Codable {
    private let counter: Counter?

    init(_ counter: Counter) {
      self.counter = counter
      counter.count += 1
    }

    init(from decoder: any Decoder) throws {
      _ = try decoder.singleValueContainer().decode(Int.self)
      counter = nil
    }

    deinit { counter?.count -= 1 }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(1)
    }
  }

  private static let rowCount = 9_000

  /// Returns a daemon with a method that lists counted rows, whose request is sent.
  private func listing(_ counter: Counter) throws -> (bench: Bench, client: TestClient) {
    let bench = try Bench { catalog, _ in
      catalog.listQuery("cells.rows", "Lists rows.", of: CountedRow.self) { context in
        context.rows(named: { (0..<Self.rowCount).map { "r\($0)" } }) { _ in CountedRow(counter) }
      }
    }
    let client = bench.connect()
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1000000}}}"#)
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":1,"method":"cells.rows"}"#)
    return (bench, client)
  }

  @Test
  func `the rows of a long answer are freed while they are written`() throws {
    let counter = Counter()
    let (bench, client) = try listing(counter)
    var (lines, most, turns) = (client.received(), 0, 0)
    while lines.isEmpty, turns < 1_000 {
      let before = counter.count
      bench.table.flush()
      most = max(most, before - counter.count)
      lines = client.received()
      most = max(most, before - counter.count)
      turns += 1
    }
    let result = JSONText(trusted: lines.first ?? "null").members?["result"]?.members
    #expect(result?["value"]?.elements?.count == Self.rowCount)
    // Two slices of at most 20 looks at the clock, one for 32 rows.
    #expect(most <= 2 * 21 * 32, "\(most) rows were freed between two turns")
    #expect(counter.count == 0)
    bench.time.nanosecondsPerLook = 0
  }

  @Test
  func `the rows of an answer that is not completed are freed in steps`() throws {
    let counter = Counter()
    let (bench, client) = try listing(counter)
    let most = Self.rowCount - 1_000
    for _ in 0..<1_000 where counter.count < most { bench.table.flush() }
    let (rows, steps) = (counter.count, bench.table.context.workSteps)
    #expect(rows >= most)
    client.connection.end()
    #expect(counter.count > rows / 2)
    bench.time.nanosecondsPerLook = 0
    while bench.table.flush() {}
    #expect(counter.count == 0)
    #expect((2...3).contains(bench.table.context.workSteps - steps), "128 parts of 32 rows each")
  }

  @Test
  func `events that readers with filters have collected are freed in steps`() throws {
    let bench = try Bench()
    let (client, other) = (bench.connect(), bench.connect(uid: 1001))
    let filter = #"{"streams":["cells/h","cells/none"]}"#
    client.send(#"{"id":1,"method":"subscribe","params":{"source":"events","filter":\#(filter)}}"#)
    #expect(client.settle().count == 1)
    let calls = (1...1_000).map { #"{"method":"cells.set","params":["h",\#($0)]}"# }
    other.send(
      #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    while bench.table.flush() {}
    let steps = bench.table.context.workSteps
    bench.store.commit()
    while bench.table.flush() {}
    #expect(client.received().count >= 1)
    #expect(bench.table.context.workSteps - steps == 8, "128 events in a step")
  }
}
