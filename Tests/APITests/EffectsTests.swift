import API
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

/// Commands that are answered when bindings have written what follows (`_meta.settle`).
@Suite(.leavesNothing)
struct EffectsTests {
  private let bench: Bench
  private let client: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let bindings = BindingsService(in: parts.host)
      return { catalog in bindBindings(catalog, to: bindings, parts.live) }
    })
    client = bench.connect()
  }

  private func bind(_ expressions: String...) {
    for expression in expressions {
      let text = JSONText(string: expression).text
      let answer = client.call(
        #"{"id":1,"method":"bind","params":{"expr":\#(text)}}"#)
      #expect(answer.contains("result"), "\(answer)")
    }
  }

  private func line(_ name: String, _ value: String) -> String {
    #"{"id":2,"method":"cells.set","params":{"name":"\#(name)","value":\#(value),"_meta":{"settle":true}}}"#
  }

  /// The effects of an answer: each write as its source, value and binding, then the rest.
  private func effects(_ answer: String) -> [String] {
    guard case .object(let whole)? = try? JSONValue(parsing: answer),
      case .object(let result)? = whole["result"], case .object(let effects)? = result["effects"],
      case .array(let writes)? = effects["writes"]
    else { return [answer] }
    let shown = writes.map { write -> String in
      guard case .object(let write) = write else { return "" }
      return ["source", "value", "binding"].compactMap { name in
        if case .string(let text)? = write[name] { text } else { write[name]?.text.text }
      }
      .joined(separator: " ")
    }
    var rest = effects
    rest["writes"] = nil
    return shown + [JSONValue.object(rest).text.text]
  }

  @Test
  func `34: a command that cannot wait for effects is refused before it runs`() {
    let most = client.connection.limits.inFlight
    for _ in 0..<most + 20 {
      client.send(
        #"{"id":2,"method":"cells.add","params":{"name":"n","by":1,"_meta":{"settle":true}}}"#)
    }
    let answers = client.settle()
    let done = answers.count { $0.contains(#""result""#) }
    #expect(answers.count == most + 20 && done < answers.count)
    #expect(bench.cells.ledger.value(of: "cells/n")?.text == "\(done)")
  }

  private static let settled = #"{"settled":true,"waiting":[]}"#

  @Test
  func `the answer lists what bindings have written, in order, and nothing else`() {
    bind(
      "cells/a | round(0) ~> cells/b", "cells/b | scale(2) ~> cells/c",
      "(cells/a, cells/c) | sum ~> cells/d", "cells/other ~> cells/copy")
    client.send(#"{"id":3,"method":"cells.set","params":["other",1]}"#)
    #expect(
      effects(client.call(line("a", "1.6")).split(separator: "\n").map(String.init).last ?? "")
        == [
          "cells/b 2 cells/a | round(0) ~> cells/b", "cells/c 4 cells/b | scale(2) ~> cells/c",
          "cells/d 5.6 (cells/a, cells/c) | sum ~> cells/d", Self.settled,
        ])
    #expect(bench.host.last == bench.host.durable)
    #expect(effects(client.call(line("lonely", "1"))) == [Self.settled])
    #expect(effects(client.call(line("a", "1.6"))).last == Self.settled, "nothing changes")
  }

  @Test
  func `a value that waits in an operator of time is named`() {
    bind("cells/a | debounce(5s) ~> cells/b")
    #expect(
      effects(client.call(line("a", "1"))) == [
        #"{"settled":true,"waiting":["cells/a | debounce(5s) ~> cells/b"]}"#
      ])
  }

  @Test
  func `an atomic has effects too, and a command that is repeated has none`() {
    bind("(cells/a, cells/b) | sum ~> cells/c")
    let atomic =
      #"{"id":2,"method":"atomic","params":{"calls":[{"method":"cells.set","params":["a",1]},"#
      + #"{"method":"cells.set","params":["b",2]}],"_meta":{"settle":true,"cmd":"x"}}}"#
    #expect(
      effects(client.call(atomic)) == [
        "cells/c 3 (cells/a, cells/b) | sum ~> cells/c", Self.settled,
      ])
    #expect(effects(client.call(atomic)) == [Self.settled])
  }

  @Test
  func `effects that the role may not read are not listed, and the command is refused as before`() {
    bind("cells/a ~> cells/secret", "cells/a ~> cells/b")
    let guest = bench.connect(
      uid: 1002, as: .made(read: ["cells/a", "cells/b"], write: ["cells/a"]))
    #expect(effects(guest.call(line("a", "1"))) == ["cells/b 1 cells/a ~> cells/b", Self.settled])
    #expect(guest.error(line("b", "1"))?.name == .permissionDenied)
  }

  @Test
  func `the answer lists the values that were refused, and why`() {
    bind("cells/a | to_number ~> cells/b", "cells/a ~> cells/c")
    let lines = client.call(line("a", #""x""#)).split(separator: "\n")
    let text = effects(lines.last.map(String.init) ?? "")
    #expect(text.first == "cells/c x cells/a ~> cells/c")
    guard case .object(let rest)? = try? JSONValue(parsing: text.last ?? ""),
      case .array(let refused)? = rest["refused"]
    else {
      Issue.record("\(text)")
      return
    }
    #expect(refused.count == 1, "\(text)")
    #expect(rest["settled"] == .bool(true))
    guard case .object(let one) = refused[0] else { return }
    #expect(one["source"] == .string("cells/b"))
    #expect(one["binding"] == .string("cells/a | to_number ~> cells/b"))
    guard case .string(let failure)? = one["failure"] else {
      Issue.record("\(text)")
      return
    }
    #expect(failure.contains("to_number"), "\(failure)")
    #expect(effects(client.call(line("a", "1"))).last == Self.settled)
    // A role that may not read the value is not told it.
    let guest = bench.connect(
      uid: 1002, as: .made(read: ["cells/b", "cells/other"], write: ["cells/a"]))
    #expect(
      effects(guest.call(line("a", #""y""#))).last
        == #"{"settled":true,"refused":[{"source":"cells/b"}],"waiting":[]}"#)
    let stranger = bench.connect(uid: 1003, as: .made(read: [], write: ["cells/a"]))
    #expect(effects(stranger.call(line("a", #""z""#))).last == Self.settled)
  }

  @Test
  func `34: a chain that does not end in time is reported`() {
    bind("cells/a ~> cells/b", "cells/b ~> cells/c")
    client.send(line("a", "1"))
    bench.store.commit()
    bench.table.flush()
    #expect(client.received().isEmpty, "the write of the binding is not durable")
    bench.time.advance(5_000)
    bench.table.flush()
    let answer = effects(client.received().joined())
    #expect(answer.count == 2)
    #expect(
      answer.last
        == #"{"settled":false,"reason":"after 5 seconds bindings still write","waiting":[]}"#)
  }

  @Test
  func `34: a chain of very many writes is reported`() {
    let others = (0..<16).map { _ in bench.connect() }
    for i in 0..<1001 {
      _ = others[i / 64].call(
        #"{"id":1,"method":"bind","params":{"expr":"cells/a ~> cells/x\#(i)"}}"#)
    }
    let answer = effects(client.call(line("a", "1")))
    #expect(
      answer.last?.contains(#""settled":false,"reason":"bindings have made 1000 writes""#) == true)
  }

  @Test
  func `a lost write refuses the call`() {
    bind("cells/a ~> cells/b")
    client.send(line("a", "1"))
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    bench.table.flush()
    #expect(client.received().joined().contains("read_only"))
    #expect(effects(client.call(line("a", "2"))).count == 2)
  }

  @Test
  func `sync waits for all bindings`() {
    bind("cells/a ~> cells/b", "cells/b ~> cells/c")
    client.send(
      #"{"id":3,"method":"cells.set","params":["a",1]}"#,
      #"{"id":4,"method":"sync","params":{"settle":true}}"#)
    bench.store.commit()
    bench.table.flush()
    #expect(!client.received().joined().contains("settled"))
    #expect(client.settle().joined().contains(#""settled":true"#))
    #expect(bench.cells.ledger.value(of: "cells/c")?.text == "1")
    #expect(
      client.call(#"{"id":5,"method":"sync","params":{"settle":true}}"#)
        .contains(#"{"seq":3,"settled":true}"#))
  }
}
