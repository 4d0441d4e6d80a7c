import API
import Features
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Cycles of bindings.
@Suite(.leavesNothing)
struct BindingGraphTests {
  private let bench: Bench
  private let client: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let bindings = BindingsService(in: host)
      return { bindBindings($0, to: bindings, parts.live) }
    })
    client = bench.connect()
  }

  private func bind(_ expression: String, _ name: String) -> WireError? {
    client.error(
      #"{"id":1,"method":"bind","params":{"expr":"\#(expression)","binding":"\#(name)"}}"#)
  }

  private func unbind(_ name: String) {
    _ = client.call(#"{"id":1,"method":"unbind","params":["\#(name)"]}"#)
  }

  /// Returns whether a value would return to its origin; a slow reference implementation.
  private func hasCircle(_ flows: [(Int, Int)]) -> Bool {
    var left = flows
    while let source = Set(left.map(\.0)).first(where: { source in
      !left.contains { $0.1 == source }
    }) {
      left.removeAll { $0.0 == source }
    }
    return !left.isEmpty
  }

  @Test(arguments: 1...20)
  func `a binding is refused if and only if it closes a cycle`(seed: Int) {
    var random = SeededRandom(seed: UInt64(seed))
    var flows: [String: (Int, Int)] = [:]
    for i in 0..<120 {
      if flows.count > 20, let name = flows.keys.sorted().randomElement(using: &random) {
        unbind(name)
        flows[name] = nil
        continue
      }
      let (from, to) = (
        Int.random(in: 0..<15, using: &random), Int.random(in: 0..<15, using: &random)
      )
      let goesRight = Bool.random(using: &random)
      let expression =
        goesRight ? "cells/n\(from) !~> cells/n\(to)" : "cells/n\(to) <~! cells/n\(from)"
      let closes = hasCircle(flows.values + [(from, to)])
      let error = bind(expression, "b\(i)")
      #expect((error?.name == .bindingCycle) == closes, "\(expression)")
      if error == nil { flows["b\(i)"] = (from, to) }
    }
  }

  @Test
  func `the path of a cycle starts and ends at the same source`() {
    #expect(bind("cells/a !~> cells/b", "1") == nil)
    #expect(bind("cells/b/part !~> cells/c", "2") == nil)
    let error = bind("cells/c !~> cells/a", "3")
    #expect(error?.name == .bindingCycle)
    let path = error?.data["path"]
    #expect(
      path == .array(["cells/c", "cells/a", "cells/b", "cells/c"].map { .string($0) })
        || path == .array(["cells/c", "cells/a", "cells/b/part", "cells/c"].map { .string($0) }),
      "\(String(describing: path))")
  }
}
