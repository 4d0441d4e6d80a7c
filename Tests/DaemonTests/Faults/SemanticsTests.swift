import Glibc
import JSON
import Testing

/// Row 25 of the faults over the socket: valid requests with harmful meaning.
///
/// Misbehaving handlers and transformers are in APITests and SignalsTests, signals in
/// ShutdownTests.
struct SemanticsTests {
  let bench: FaultBench
  let client: TestSocket

  init() throws {
    bench = try FaultBench()
    client = try TestSocket(bench.daemon.socket)
  }

  private func bind(_ expression: String) throws -> String {
    try client.call(
      #"{"id":1,"method":"bind","params":{"expr":\#(JSONText(string: expression).text)}}"#)
  }

  @Test
  func `25: a cycle of bindings is refused at any length and for any creator`() throws {
    #expect(try errorName(bind("cells/a <> cells/a")) == "binding_cycle")
    #expect(try errorName(bind("cells/a <> cells/b")) == nil)
    #expect(try errorName(bind("cells/b <> cells/a")) == "binding_cycle")
    #expect(try errorName(bind("cells/b ~> cells/c")) == nil)
    let other = try TestSocket(bench.daemon.socket)
    #expect(
      try errorName(
        other.call(#"{"id":1,"method":"bind","params":{"expr":"cells/c ~> cells/a"}}"#))
        == "binding_cycle")
    other.close()
    _ = try bench.old.call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    try bench.waitUntil("it has gone through, and come to rest") {
      try client.call(#"{"id":1,"method":"get","params":["cells/c"]}"#).contains(#""value":1"#)
    }
    client.close()
    try bench.checkWellBeing()
  }

  @Test
  func `25: a failed transformer notifies the creator of its binding, and assigns nothing`() throws
  {
    for (i, expression) in [
      "cells/x ~> cells/y | uppercase", "cells/x ~> cells/z | parse_json",
      "cells/x ~> lists/l", "cells/x ~> cells/w | pick(\"/a\") | scale(1e308)",
    ].enumerated() {
      #expect(try errorName(bind(expression)) == nil, "\(i)")
    }
    _ = try bench.old.call(#"{"id":1,"method":"cells.set","params":["x",{"a":1e308}]}"#)
    for _ in 0..<4 {
      let line = try #require(try client.line())
      #expect(line.contains(#""method":"fail","params":{"binding""#), "\(line)")
    }
    for source in ["cells/y", "cells/z", "cells/w"] {
      #expect(
        try errorName(client.call(#"{"id":1,"method":"get","params":["\#(source)"]}"#))
          == "not_found")
    }
    client.close()
    try bench.checkWellBeing()
  }

  @Test
  func `25: an expanding transformer is limited to the maximum length of a value`() throws {
    #expect(try errorName(bind(#"cells/big ~> cells/bigger | format("{} {} {} {} {} {}")"#)) == nil)
    _ = try bench.old.call(
      #"{"id":1,"method":"cells.set","params":["big","\#(String(repeating: "x", count: 200_000))"]}"#
    )
    let line = try client.line()
    #expect(line?.contains(#""method":"fail","params":{"binding":1"#) == true, "\(line ?? "")")
    #expect(
      try errorName(client.call(#"{"id":1,"method":"get","params":["cells/bigger"]}"#))
        == "not_found")
    client.close()
    try bench.checkWellBeing()
  }
}
