import Binders
import JSON
import Journal
import Services
import Testing

/// Bindings that the daemon keeps, when it starts again.
struct BindingRestoreTests {
  private let store = MemoryStore()

  /// A daemon over the journal; what it keeps follows from then on.
  private func start() throws -> (bench: Bench, bindings: BindingsService) {
    var made: BindingsService?
    let bench = try Bench(store) { interface, host in
      let bindings = BindingsService(in: host)
      bindBindings(interface, to: bindings)
      made = bindings
    }
    return (bench, try #require(made))
  }

  private func run(_ bench: Bench, _ body: () throws -> Void) throws {
    let command = Command(method: "test", caller: Caller(uid: 1, pid: 2))
    _ = try bench.host.perform(command) {
      try body()
      return nil
    }
    store.commit()
  }

  @Test
  func `what a source has become while nobody passed it on is passed on at the start`() throws {
    do {
      let (bench, bindings) = try start()
      try run(bench) {
        try bindings.add("k", "cells/a ~> cells/b")
        try bindings.add("l", "cells/c ~> cells/d")
        try bindings.add("m", "cells/e ~> cells/f")
        for (name, value) in [("a", 1), ("b", 1), ("c", 2), ("d", 1), ("f", 3)] {
          _ = try bench.cells.set(name, to: JSONText(value))
        }
        _ = try bench.cells.unset("a")
      }
    }
    let (bench, bindings) = try start()
    restoreBindings(bench.interface, bindings) { Issue.record("\($0)") }
    store.commit()
    func value(_ cell: String) -> String? { bench.cells.ledger.value(of: "cells/\(cell)")?.text }
    #expect(value("b") == "null", "the source has gone")
    #expect(value("d") == "2", "the source has changed")
    #expect(value("f") == "3", "the source never had a value")
  }

  @Test
  func `one that says more than it may is told, not restored, and can be ended`() throws {
    do {
      let (bench, bindings) = try start()
      let long = "cells/a ~> cells/b" + String(repeating: " | not", count: 70_000)
      try run(bench) {
        try bindings.add("long", long)
        try bindings.add("k", "cells/a ~> cells/c")
      }
    }
    let (bench, bindings) = try start()
    var faults: [String] = []
    restoreBindings(bench.interface, bindings) { faults.append($0) }
    #expect(faults.count == 1)
    #expect(faults.first?.contains("at most 1024 bytes") == true)
    #expect(faults.first.map { $0.utf8.count < 300 } == true)
    let client = bench.connect()
    _ = client.call(#"{"id":1,"method":"cells.set","params":["a",true]}"#)
    #expect(bench.cells.ledger.value(of: "cells/c")?.text == "true")
    #expect(bench.cells.ledger.value(of: "cells/b") == nil)
    #expect(
      client.result(#"{"id":2,"method":"unbind","params":["long"]}"#)?["was"] == .string("active"))
    #expect(bindings.ledger.value(of: "bindings/long") == nil)
  }
}
