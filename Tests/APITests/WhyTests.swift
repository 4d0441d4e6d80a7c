import API
import BinderTesting
import EventSourcing
import Features
import JSON
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct WhyTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let bindings = BindingsService(in: parts.host)
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindWhy(catalog, parts.live)
      }
    })
    client = bench.connect()
  }

  private func bind(_ expression: String) {
    let answer = client.call(
      #"{"id":1,"method":"bind","params":{"expr":"\#(expression)","scope":"daemon"}}"#)
    #expect(answer.contains("result"), "\(answer)")
  }

  private func set(_ name: String, _ value: String, meta: String = "") {
    _ = client.call(
      #"{"id":0,"method":"cells.set","params":{"name":"\#(name)","value":\#(value)\#(meta)}}"#)
  }

  /// The chain, each event as its source, value and binding.
  private func chain(
    _ source: String, at: String = "", by other: TestClient? = nil
  ) -> [String] {
    let result = (other ?? client).result(
      #"{"id":1,"method":"why","params":{"source":"\#(source)"\#(at)}}"#)
    guard case .array(let links)? = result?["value"] else {
      return ["\(String(describing: result))"]
    }
    return links.map { link in
      guard case .object(let link) = link else { return "" }
      return ["source", "value", "binding", "end"].compactMap { name in
        if case .string(let text)? = link[name] { text } else { link[name]?.text.text }
      }
      .joined(separator: " ")
    }
  }

  @Test
  func `a value that a client has set has no cause`() {
    set("a", "1")
    #expect(
      client.call(#"{"id":1,"method":"why","params":["cells/a"]}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"value":[{"source":"cells/a","seq":1,"#
        + #""time":"2026-01-02T03:04:05.000001Z","type":"cells.set","value":1,"#
        + #""who":{"uid":1000,"pid":42,"program":"sh","method":"cells.set"}}]}}"#)
    #expect(chain("cells/none") == [])
  }

  @Test
  func `36: an event of the daemon from before causes were kept is no beginning`() throws {
    for (method, pid) in [("bind", 0), ("lease.end", 42), ("bind", 42)] as [(String, Int32)] {
      _ = try bench.host.perform(Command(method: method, caller: Peer(uid: 1000, pid: pid))) {
        _ = try bench.cells.set("old", to: JSONText(pid == 0 ? 1 : method == "bind" ? 3 : 2))
        return nil
      }
      bench.store.commit()
      let links = chain("cells/old")
      #expect(
        links == (method == "bind" && pid > 0 ? ["cells/old 3"] : [links[0], "not_recorded"]))
    }
  }

  @Test
  func `a chain of bindings leads to the value that somebody has set`() {
    bind("cells/a | round(0) ~> cells/b")
    bind("(cells/b, cells/x) | sum ~> cells/c")
    set("x", "1")
    set("a", "2.2")
    let then = bench.host.durable
    set("a", "7.7")
    #expect(
      chain("cells/c") == [
        "cells/c 9 (cells/b, cells/x) | sum ~> cells/c", "cells/b 8 cells/a | round(0) ~> cells/b",
        "cells/a 7.7",
      ])
    set("x", "2")
    #expect(
      chain("cells/c") == ["cells/c 10 (cells/b, cells/x) | sum ~> cells/c", "cells/x 2"])
    #expect(chain("cells/b", at: #","at":{"seq":\#(then)}"#).last == "cells/a 2.2")
  }

  @Test
  func `the other direction of a binding is found too`() {
    set("left", "1")
    bind("cells/left <> cells/right")
    set("right", "5")
    #expect(chain("cells/left") == ["cells/left 5 cells/left <> cells/right", "cells/right 5"])
    #expect(
      chain("cells/right", at: #","at":{"seq":3}"#)
        == ["cells/right 1 cells/left <> cells/right", "cells/left 1"])
  }

  @Test
  func `a measured value ends the chain`() {
    bind(#"system/load | pick(\"/one\") ~> cells/load"#)
    bench.time.advance(10_000)
    _ = client.settle()
    #expect(chain("cells/load").last == "system/load not_journaled")
  }

  @Test
  func `a program says which event it works on`() {
    set("a", "1")
    set("b", "2", meta: #","_meta":{"cause":1}"#)
    #expect(chain("cells/b") == ["cells/b 2", "cells/a 1"])
    // The daemon has not checked it, and says so, also of a command with a key.
    set("c", "3", meta: #","_meta":{"cause":2,"cmd":"k"}"#)
    let answer = client.call(#"{"id":1,"method":"why","params":["cells/c"]}"#)
    #expect(answer.ranges(of: #""cause":"client""#).count == 2, "\(answer)")
    #expect(answer.hasSuffix(#""method":"cells.set"}}]}}"#), "the first event has no cause")
    let error = client.error(
      #"{"id":1,"method":"cells.set","params":{"name":"c","value":1,"_meta":{"cause":9}}}"#)
    #expect(error?.name == .seqFuture)
  }

  @Test
  func `a role sees the events of what it may read`() {
    set("secret", "1")
    bind("cells/secret ~> cells/open")
    let other = bench.connect(uid: 7, as: .made(read: ["cells/open"], write: []))
    #expect(chain("cells/open", by: other) == ["cells/open 1", "hidden"])
    let answer = other.call(#"{"id":1,"method":"why","params":["cells/open"]}"#)
    #expect(!answer.contains("who"), "it may not read daemon/connections")
    #expect(
      other.error(#"{"id":1,"method":"why","params":["cells/secret"]}"#)?.name == .notFound)
  }

  @Test
  func `36: a binding that is too long to be kept ends the chain, without another event`() {
    let names = (0..<20).map { "cells/a/rather/long/name/\($0)" }
    bind("(\(names.joined(separator: ", "))) | sum ~> cells/total")
    set("a/rather/long/name/3", "5")
    #expect(chain("cells/total") == ["cells/total 5", "long"])
  }
}
