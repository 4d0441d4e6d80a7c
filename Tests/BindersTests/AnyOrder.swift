import Connections
import Testing

/// Holds what a client is told against the same with the lines of each binder in other orders.
///
/// - Parameter script: Lets a client ask for things and returns what it was told.
func expectSameInAnyOrder(
  _ bench: () throws -> Bench, _ script: (TestClient) throws -> [String]
) throws {
  var told: Set<[String]> = []
  for seed in 0..<12 {
    let bench = try bench()
    bench.hub.lineOrder = LineOrder.order(seed)
    told.insert(try script(bench.connect()))
  }
  #expect(told.count == 1, "\(told)")
}
