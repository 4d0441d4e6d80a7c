import API
import BinderTesting
import Configuration
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import TestSupport
import Testing
import Wire

/// The undo of declared types, and of bindings that were made or ended.
@Suite(.leavesNothing)
struct UndoDeclarationsTests {
  private let store: MemoryStore
  private let time = ManualTime()

  init() { store = MemoryStore(epoch: "7f3a9c52") }

  /// A daemon in the process with types, bindings and those of a file.
  private struct Daemon {
    let bench: Bench
    let client: TestClient

    init(_ store: MemoryStore, _ time: ManualTime, _ file: String = "") throws {
      var made: (TypesService, BindingsService, SilenceWatch)?
      bench = try Bench(store, time: time) { catalog, parts in
        let (types, bindings) = (
          TypesService(in: parts.host), BindingsService(in: parts.host)
        )
        let silence = SilenceWatch(in: parts.host, on: time)
        bindTypes(catalog, to: types, silence)
        bindBindings(catalog, to: bindings, parts.live)
        bindUndo(catalog)
        bindWhy(catalog, parts.live)
        made = (types, bindings, silence)
      }
      let (types, bindings, silence) = try #require(made)
      bench.endServices = { silence.stop() }
      client = bench.connect()
      restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
      var files = BindFiles()
      files.read(Array(file.utf8), file: "/d/h.bind")
      #expect(loadBindings(bench.rights[.owner], bench.liveBindings, files).faults.isEmpty)
      var declared = TypeFiles()
      declared.read(Array("cells/filed: number\n".utf8), file: "/d/h.types")
      if !file.isEmpty { _ = types.use(declared.types) }
      _ = client.settle()
    }

    func call(
      _ method: String, _ params: String, by other: TestClient? = nil
    ) -> String {
      let answer = (other ?? client).call(
        #"{"id":1,"method":"\#(method)","params":\#(params)}"#)
      _ = client.settle()
      return answer
    }

    func set(_ name: String, _ value: String) { _ = call("cells.set", #"["\#(name)",\#(value)]"#) }

    func value(_ source: String) -> String? {
      client.result(#"{"id":2,"method":"get","params":["\#(source)"]}"#)?["value"]?.text.text
    }

    func undo(_ params: String, by other: TestClient? = nil) -> String {
      call("undo", "{\(params)}", by: other)
    }

    func bind(_ expression: String, _ name: String = "b") {
      let text = JSONText(string: expression).text
      let answer = call("bind", #"{"expr":\#(text),"scope":"daemon","binding":"\#(name)"}"#)
      #expect(answer.contains(#""result""#), "\(answer)")
    }

    func unbind(_ name: String = "b") { _ = call("unbind", #"["\#(name)"]"#) }
  }

  private func open(_ file: String = "") throws -> Daemon { try Daemon(store, time, file) }

  private func changes(_ text: String, in answer: String) -> Bool {
    answer.contains(#""changes":[\#(text)],"conflicts":[],"left":[]"#)
  }

  // MARK: Types

  @Test
  func `a type is undone alone, and comes back with the undo of that`() throws {
    let daemon = try open()
    _ = daemon.call("types.set", #"["cells/a","number"]"#)
    _ = daemon.call("types.set", #"["cells/b","boolean"]"#)
    let answer = daemon.undo(#""seq":1"#)
    let change = #"{"source":"types/declared","from":{"cells/a":"number"},"to":{}}"#
    #expect(changes(change, in: answer), "\(answer)")
    #expect(daemon.value("types/declared") == #"{"cells/b":"boolean"}"#)
    daemon.set("a", "true")
    #expect(daemon.value("cells/a") == "true", "the type does not hold any more")
    _ = daemon.undo(#""seq":3"#)
    #expect(daemon.value("types/declared") == #"{"cells/a":"number","cells/b":"boolean"}"#)
    #expect(daemon.call("cells.set", #"["a",false]"#).contains("wrong_type"))
    // A type that was removed, and one that was changed.
    _ = daemon.call("types.remove", #"["cells/a"]"#)
    _ = daemon.call("types.set", #"["cells/b","number"]"#)
    let last = store.last
    let removed = daemon.undo(#""since":{"seq":\#(last - 2)}"#)
    #expect(
      changes(
        #"{"source":"types/declared","from":{"cells/b":"number"},"#
          + #""to":{"cells/a":"number","cells/b":"boolean"}}"#, in: removed), "\(removed)")
    #expect(daemon.value("types/declared") == #"{"cells/a":"number","cells/b":"boolean"}"#)
  }

  @Test
  func `37: a type that was changed since is a conflict, and one in a file stays`() throws {
    let daemon = try open("n: cells/x ~> cells/y")
    _ = daemon.call("types.set", #"["cells/a","number"]"#)
    let seq = store.last
    _ = daemon.call("types.set", #"["cells/a","boolean"]"#)
    #expect(daemon.undo(#""seq":\#(seq)"#).contains("has changed 'types/declared' since"))
    _ = daemon.undo(#""seq":\#(seq),"force":true"#)
    #expect(daemon.value("types/declared") == nil)
    #expect(daemon.call("types.set", #"["cells/filed","boolean"]"#).contains("in_file"))
    let reader = daemon.bench.connect(
      uid: 3000, as: .made(read: ["types/**"], write: ["cells/**"]))
    let refused = daemon.undo(#""seq":\#(store.last)"#, by: reader)
    #expect(refused.contains("permission_denied"), "\(refused)")
  }

  @Test
  func `37: a type that a file declares by now is refused`() throws {
    do {
      let daemon = try open()
      _ = daemon.call("types.set", #"["cells/filed","boolean"]"#)
      _ = daemon.call("types.remove", #"["cells/filed"]"#)
    }
    let daemon = try open("n: cells/x ~> cells/y")
    let preview = daemon.undo(#""seq":2,"preview":true"#)
    let reason = "the type of 'cells/filed' is declared in /d/h.types:1: change it there and reload"
    #expect(preview.contains(#""refused":"\#(reason)""#), "\(preview)")
    let last = store.last
    #expect(daemon.undo(#""seq":2"#).contains(reason))
    #expect(store.last == last)
  }

  // MARK: Bindings

  @Test
  func `a binding that was ended comes back with its state, and one that was made ends`() throws {
    do {
      let daemon = try open()
      daemon.bind("cells/a | count ~> cells/n")
      for i in 1...3 { daemon.set("a", "\(i)") }
      #expect(daemon.value("cells/n") == "3")
      let before = store.last
      daemon.unbind()
      daemon.set("a", "4")
      #expect(daemon.value("cells/n") == "3")
      let answer = daemon.undo(#""seq":\#(before + 1)"#)
      #expect(
        changes(#"{"source":"bindings/b","to":"cells/a | count ~> cells/n"}"#, in: answer),
        "\(answer)")
      #expect(daemon.value("cells/n") == "4", "the source has changed since")
      daemon.set("a", "5")
      #expect(daemon.value("cells/n") == "5")
    }
    let daemon = try open()
    daemon.set("a", "6")
    #expect(daemon.value("cells/n") == "6", "after a restart too")
    let seq = try #require(
      store.records.last { $0.type == "bindings.bound" }?.seq)
    let answer = daemon.undo(#""seq":\#(seq)"#)
    #expect(
      changes(#"{"source":"bindings/b","from":"cells/a | count ~> cells/n"}"#, in: answer),
      "\(answer)")
    daemon.set("a", "7")
    #expect(daemon.value("cells/n") == "6")
    #expect(daemon.value("bindings/b/state") == nil)
    // An undo can be undone.
    _ = daemon.undo(#""since":{"seq":\#(seq)},"source":"bindings/*""#)
    #expect(daemon.value("cells/n") == "7")
  }

  @Test
  func `a state that has seen its source passes nothing on when it comes back`() throws {
    let daemon = try open()
    daemon.bind("cells/a | count ~> cells/n")
    daemon.set("a", "1")
    daemon.unbind()
    let last = store.last
    _ = daemon.undo(#""since":{"seq":\#(last - 2)},"source":"bindings/**""#)
    #expect(daemon.value("cells/n") == "1")
    #expect(store.records.filter { $0.stream == "cells/n" }.count == 1)
  }

  @Test
  func `another expression of a name comes back, and operators without a state assign at once`()
    throws
  {
    let daemon = try open()
    daemon.set("a", "1.6")
    daemon.bind("cells/a | round(0) ~> cells/n")
    daemon.unbind()
    daemon.bind("cells/a | negate ~> cells/n")
    let seq = store.records.first { $0.type == "bindings.unbound" }?.seq ?? 0
    #expect(daemon.value("cells/n") == "-1.6")
    let answer = daemon.undo(#""since":{"seq":\#(seq - 1)},"source":"bindings/*""#)
    #expect(
      changes(
        #"{"source":"bindings/b","from":"cells/a | negate ~> cells/n","to":"cells/a | round(0) ~> cells/n"}"#,
        in: answer), "\(answer)")
    #expect(daemon.value("cells/n") == "2")
    daemon.set("a", "3.2")
    #expect(daemon.value("cells/n") == "3")
  }

  @Test
  func `37: a binding that cannot be made again is refused, and nothing changes`() throws {
    let daemon = try open()
    daemon.bind("cells/a ~> cells/b", "first")
    daemon.unbind("first")
    let seq = store.last
    daemon.set("c", "1")
    daemon.set("c", "2")
    daemon.bind("cells/b ~> cells/a", "second")
    for params in [
      #""seq":\#(seq),"preview":true"#,
      #""since":{"seq":\#(seq - 1)},"until":{"seq":\#(store.last - 1)}"#,
    ] {
      let last = store.last
      let answer = daemon.undo(params)
      #expect(answer.contains("the binding would close a cycle"), "\(answer)")
      #expect(store.last == last)
    }
    #expect(daemon.value("cells/c") == "2")
    daemon.set("a", "5")
    #expect(daemon.value("cells/b") == nil, "no binding of it is left")
    daemon.unbind("second")
    _ = daemon.undo(#""seq":\#(seq)"#)
    #expect(daemon.value("cells/b") == "5")
  }

  @Test
  func `37: a role undoes only bindings that it may make`() throws {
    let daemon = try open()
    daemon.set("secret", "1")
    daemon.bind("cells/secret ~> cells/b")
    daemon.unbind()
    let seq = store.last
    let other = daemon.bench.connect(
      uid: 3000, as: .made(read: ["cells/b", "bindings/**"], write: ["cells/b", "bindings/**"]))
    #expect(daemon.undo(#""seq":\#(seq)"#, by: other).contains(#""error""#))
    daemon.set("secret", "2")
    #expect(daemon.value("cells/b") == "1")
    #expect(daemon.value("bindings/b") == nil)
  }

  @Test
  func `37: the name of a binding in a file is refused, and many bindings are too expensive`()
    throws
  {
    do {
      let daemon = try open()
      daemon.bind("cells/a ~> cells/b", "n")
      daemon.unbind("n")
      for i in 0...100 { daemon.bind("cells/a ~> cells/t\(i)", "t\(i)") }
      let answer = daemon.undo(#""since":{"seq":2}"#)
      #expect(answer.contains("at most 100 bindings are undone at once"), "\(answer)")
      #expect(!daemon.undo(#""since":{"seq":3}"#).contains("error"))
      #expect(daemon.value("bindings/t7") == nil)
    }
    let daemon = try open("n: cells/x ~> cells/y")
    let answer = daemon.undo(#""seq":2"#)
    #expect(answer.contains("in_file") && answer.contains("/d/h.bind:1"), "\(answer)")
  }

  @Test
  func `the state of operators is left, unless its binding is undone`() throws {
    let daemon = try open()
    daemon.bind("cells/a | count ~> cells/n")
    daemon.set("a", "1")
    let answer = daemon.undo(#""since":{"seq":1},"preview":true"#)
    #expect(
      answer.contains(
        #"{"stream":"bindings/b/state","reason":"the state of operators goes on with its binding"}"#
      ),
      "\(answer)")
    #expect(daemon.undo(#""since":{"seq":0},"preview":true"#).contains(#""left":[]"#))
  }

  @Test
  func `why names the line of a file, until the line is another one`() throws {
    func why(_ daemon: Daemon) -> String { daemon.call("why", #"["cells/y"]"#) }
    do {
      let daemon = try open("# one\nheat: cells/x ~> cells/y")
      daemon.set("x", "1")
      let answer = why(daemon)
      #expect(
        answer.contains(
          #""binding":"cells/x ~> cells/y","name":"heat","file":"/d/h.bind","line":2}"#),
        "\(answer)")
      let other = daemon.bench.connect(
        uid: 3000, as: .made(read: ["cells/**"], write: []))
      let hidden = daemon.call("why", #"["cells/y"]"#, by: other)
      #expect(hidden.contains(#""binding":"cells/x ~> cells/y"}"#), "\(hidden)")
    }
    do {
      let daemon = try open("# one\n\n\nheat: cells/x ~> cells/y")
      #expect(why(daemon).contains(#""line":4}"#), "the line has moved")
    }
    do {
      let daemon = try open("heat: cells/x | round(0) ~> cells/y")
      #expect(why(daemon).contains(#""binding":"cells/x ~> cells/y","ended":true}"#))
    }
    // The same text was made again after the event.
    let daemon = try open("heat: cells/x ~> cells/y")
    #expect(why(daemon).contains(#""ended":true"#), "\(why(daemon))")
  }
}
