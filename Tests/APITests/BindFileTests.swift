import API
import Configuration
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct BindFileTests {
  private static func files(_ texts: String...) -> BindFiles {
    var files = BindFiles()
    for (i, text) in texts.enumerated() { files.read(Array(text.utf8), file: "/d/\(i).bind") }
    return files
  }

  @Test
  func `a line is a binding with or without a name; blank lines and comments are ignored`() {
    let files = Self.files(
      """
      # What the kitchen shows.

      cells/a ~> cells/b | uppercase
        \twarm:  cells/c <> cells/f | celsius_to_fahrenheit\r
          # indented
      cells/x: ~> cells/y:
      """)
    #expect(files.faults.isEmpty, "\(files.faults)")
    #expect(files.bindings.map(\.name) == ["0.bind:3", "warm", "0.bind:6"])
    #expect(
      files.bindings.map { "\($0.expression)" } == [
        "cells/a ~> cells/b | uppercase", "cells/c <> cells/f | celsius_to_fahrenheit",
        "cells/x: ~> cells/y:",
      ])
    #expect(files.bindings.map(\.line) == [3, 4, 6])
    #expect(files.bindings.map(\.column) == [1, 11, 1])
  }

  @Test
  func `each fault has its file, line and column`() {
    let files = Self.files(
      """
      cells/a ~~> cells/b
        it: cells/a ~> cells/b | upercase
      ä ö: cells/a ~> cells/c
      ü: cells/a ~> cells/d
      cells/d <> cells/e | round(1)
      cells/a ~>
      """,
      "it: cells/1 ~> cells/2\nit: cells/3 ~> cells/4\ncells/1 ~> cells/2\ncells/5 ~> cells/6\n"
        + "cells/5 ~> cells/6\nx: cells/6 ~> cells/5\n")
    #expect(
      files.faults.map(\.description) == [
        "/d/0.bind:1:9: unknown operator '~~>'",
        "/d/0.bind:2:28: unknown transformer 'upercase': did you mean 'uppercase'?",
        "/d/0.bind:3:3: expected an arrow such as ~>, found 'ö:'",
        "/d/0.bind:4:1: a name is 1 to 64 of A-Z a-z 0-9 _ . : -",
        "/d/0.bind:5:22: 'round(1)' is not reversible and cannot be used with <>",
        "/d/0.bind:6:11: expected path, found the end",
        "/d/1.bind:2:1: a binding of this name is already declared in /d/1.bind:1",
        "/d/1.bind:5:1: this binding is already declared in /d/1.bind:4",
        "/d/1.bind:6:4: the binding would close a cycle: cells/6 → cells/5 → cells/6",
      ])
    let many = "cells/a ~> cells/b" + String(repeating: " | not", count: 17)
    #expect(
      Self.files(many).faults.map(\.description)
        == ["/d/0.bind:1:118: an expression has at most 16 transformers"])
    var damaged = BindFiles()
    damaged.read([0x61, 0xFF], file: "/d/x.bind")
    #expect(damaged.faults.map(\.description) == ["/d/x.bind: the file is not UTF-8"])
    #expect(
      Self.files("\u{feff}cells/a ~> cells/b").faults.map(\.description)
        == ["/d/0.bind:1:1: the file begins with a byte order mark; save it without"])
  }

  /// Creates a daemon with bindings.
  private static func bench(_ store: MemoryStore? = nil) throws -> Bench {
    try Bench(store) { catalog, parts in
      let host = parts.host
      bindBindings(catalog, to: BindingsService(in: host), parts.live)
    }
  }

  private static func value(_ bench: Bench, _ cell: String) -> String? {
    bench.store.commit()
    bench.store.commit()
    return bench.cells.ledger.value(of: "cells/\(cell)")?.text
  }

  private static func set(_ bench: Bench, _ cell: String, _ value: Int) {
    _ = bench.connect().call(#"{"id":1,"method":"cells.set","params":["\#(cell)",\#(value)]}"#)
  }

  @Test
  func `bindings of files work, end with their line, and are not events`() throws {
    let bench = try Self.bench()
    Self.set(bench, "a", 1)
    let first = loadBindings(
      bench.rights[.owner], bench.liveBindings,
      Self.files("cells/a ~> cells/b\nn: cells/a ~> cells/c\n"))
    #expect(first.hasChanged)
    #expect(first.faults.isEmpty)
    #expect(Self.value(bench, "b") == "1")
    let count = bench.host.last
    #expect(count == 3, "what is written, and nothing else")
    var metas: [String] = []
    bench.store.replay(after: 0) { metas = $0.records.compactMap(\.meta) }
    let cause = #""cause":{"source":"cells/a","seq":1,"binding":"cells/a ~> cells/c"}"#
    #expect(metas.last == #"{"uid":0,"pid":0,"method":"bind",\#(cause)}"#)

    // A comment moves a line; its binding continues, and `n` is now another one.
    let second = loadBindings(
      bench.rights[.owner], bench.liveBindings,
      Self.files("# new\ncells/a ~> cells/b\nn: cells/a ~> cells/d\n"))
    #expect(second.hasChanged)
    #expect(Self.value(bench, "d") == "1")
    Self.set(bench, "a", 2)
    #expect(Self.value(bench, "b") == "2")
    #expect(Self.value(bench, "c") == "1", "its line is gone")
    #expect(Self.value(bench, "d") == "2")
    #expect(
      !loadBindings(
        bench.rights[.owner], bench.liveBindings,
        Self.files("cells/a ~> cells/b\nn: cells/a ~> cells/d\n")
      ).hasChanged)

    #expect(loadBindings(bench.rights[.owner], bench.liveBindings, BindFiles()).hasChanged)
    Self.set(bench, "a", 3)
    #expect(Self.value(bench, "b") == "2")
  }

  @Test
  func `a binding of a file assigns its initial value once, not at every start`() throws {
    let store = MemoryStore()
    let files = Self.files("cells/default ~> cells/setpoint\nk: cells/c <> cells/d\n")
    do {
      let bench = try Self.bench(store)
      Self.set(bench, "default", 20)
      Self.set(bench, "setpoint", 1)
      Self.set(bench, "c", 1)
      _ = loadBindings(bench.rights[.owner], bench.liveBindings, files)
      #expect(Self.value(bench, "setpoint") == "20")
      Self.set(bench, "setpoint", 23)
    }
    do {
      let bench = try Self.bench(store)
      #expect(loadBindings(bench.rights[.owner], bench.liveBindings, files).faults.isEmpty)
      #expect(Self.value(bench, "setpoint") == "23")
      // The binding is active all the same.
      Self.set(bench, "default", 21)
      #expect(Self.value(bench, "setpoint") == "21")
      Self.set(bench, "setpoint", 24)
      // The daemon ended before the binding passed the value on: only the source is durable.
      _ = bench.connect().call(#"{"id":1,"method":"ping"}"#)
      _ = loadBindings(
        bench.rights[.owner], bench.liveBindings, Self.files("k: cells/c <> cells/d\n"))
      Self.set(bench, "d", 8)
    }
    do {
      let bench = try Self.bench(store)
      _ = loadBindings(bench.rights[.owner], bench.liveBindings, files)
      #expect(Self.value(bench, "setpoint") == "21", "it was taken out: it is new")
      #expect(Self.value(bench, "c") == "8")
    }
  }

  @Test
  func `an invalid binding is reported with its place, and the others work`() throws {
    let bench = try Self.bench()
    let client = bench.connect()
    _ = client.call(
      #"{"id":1,"method":"bind","params":{"expr":"cells/k ~> cells/l","binding":"k","scope":"daemon"}}"#
    )
    let report = loadBindings(
      bench.rights[.owner], bench.liveBindings,
      Self.files(
        """
        cels/a ~> cells/b
        system/uptime <~ cells/b
        k: cells/m ~> cells/n
        cells/l ~> cells/k
        cells/o ~> cells/p
        """))
    #expect(
      report.faults.map(\.description) == [
        "/d/0.bind:1:1: no source 'cels/a'",
        "/d/0.bind:2:1: the left end cannot be set",
        "/d/0.bind:3:4: there is a binding 'k' in the journal already",
        "/d/0.bind:4:1: the binding would close a cycle: cells/l → cells/k → cells/l",
      ])
    Self.set(bench, "o", 5)
    #expect(Self.value(bench, "p") == "5")
    // It is listed with the reason until it can be made.
    #expect(
      client.call(#"{"id":2,"method":"bindings.list"}"#).contains(
        #"{"binding":"0.bind:1","expr":"cels/a ~> cells/b","kept":"file","file":"/d/0.bind","#
          + #""line":1,"active":false,"transferred":0,"failure":"no source 'cels/a'","#))
    let mended = loadBindings(
      bench.rights[.owner], bench.liveBindings, Self.files("cells/a ~> cells/b"))
    #expect(mended.faults.isEmpty)
    #expect(!client.call(#"{"id":3,"method":"bindings.list"}"#).contains(#""active":false"#))
  }

  @Test
  func `a binding of a file ends when its name is taken`() throws {
    let bench = try Self.bench()
    _ = loadBindings(bench.rights[.owner], bench.liveBindings, Self.files("cells/a ~> cells/b"))
    _ = bench.connect().call(
      #"{"id":1,"method":"bind","params":{"expr":"cells/k ~> cells/l","binding":"0.bind:2","scope":"daemon"}}"#
    )
    let moved = Self.files("\ncells/a ~> cells/b")
    let report = loadBindings(bench.rights[.owner], bench.liveBindings, moved)
    #expect(
      report.faults.map(\.description)
        == ["/d/0.bind:2:1: there is a binding '0.bind:2' in the journal already"])
    #expect(report.hasChanged)
    Self.set(bench, "a", 1)
    #expect(Self.value(bench, "b") == nil)
    #expect(
      !loadBindings(bench.rights[.owner], bench.liveBindings, moved).hasChanged,
      "it has ended before")
  }

  @Test
  func `bindings of files are listed, and clients cannot unbind them`() throws {
    let bench = try Self.bench()
    let client = bench.connect()
    _ = client.call(
      #"{"id":1,"method":"bind","params":{"expr":"cells/k ~> cells/l","binding":"k","scope":"daemon"}}"#
    )
    _ = loadBindings(
      bench.rights[.owner], bench.liveBindings, Self.files("\nn: cells/a ~> cells/b | uppercase"))
    Self.set(bench, "a", 1)
    #expect(
      client.call(#"{"id":2,"method":"bindings.list"}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"value":["#
        + #"{"binding":"k","expr":"cells/k ~> cells/l","kept":"journal","uid":1000,"active":true,"transferred":0,"no_value":["cells/k"]},"#
        + #"{"binding":"n","expr":"cells/a ~> cells/b | uppercase","kept":"file","file":"/d/0.bind","#
        + #""line":2,"active":true,"transferred":0,"failure":"'uppercase' takes a string, not 1","#
        + #""failed_at":"2026-01-02T03:04:05.000003Z"}]}}"#)
    let unbound = client.error(#"{"id":3,"method":"unbind","params":["n"]}"#)
    #expect(unbound?.data["reason"] == .string("in_file"))
    #expect(unbound?.message.contains("/d/0.bind:2") == true)
    let taken = client.error(
      #"{"id":4,"method":"bind","params":{"expr":"cells/x ~> cells/y","binding":"n","scope":"daemon"}}"#
    )
    #expect(taken?.data["reason"] == .string("in_file"))
    #expect(bench.host.last == 2)
  }
}
