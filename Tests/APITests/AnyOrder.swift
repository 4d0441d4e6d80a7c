import Connections
import Testing

/// Checks that a client receives the same if the lines of each binder are in other orders.
///
/// - Parameter script: Sends requests of a client and returns the received lines.
func expectSameInAnyOrder(
  _ bench: () throws -> Bench, _ script: (TestClient) throws -> [String]
) throws {
  var told: Set<[String]> = []
  for seed in 0..<12 {
    let bench = try bench()
    bench.table.context.views.lineOrder = LineOrder.order(seed)
    told.insert(try script(bench.connect()))
  }
  #expect(told.count == 1, "\(told)")
}
