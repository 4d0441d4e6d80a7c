import API
import Apps
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing

/// Bindings of the daemon after a restart.
@Suite(.leavesNothing)
struct BindingRestoreTests {
  private let store = MemoryStore()

  /// Starts a daemon on the journal, or on another one, with its stored bindings.
  private func start(
    on other: MemoryStore? = nil
  ) throws -> (bench: Bench, bindings: BindingsService) {
    var made: BindingsService?
    let bench = try Bench(other ?? store) { catalog, parts in
      let host = parts.host
      let bindings = BindingsService(in: host)
      bindBindings(catalog, to: bindings, parts.live)
      made = bindings
    }
    return (bench, try #require(made))
  }

  private func run(_ bench: Bench, _ body: () throws -> Void) throws {
    let command = Command(method: "test", caller: Peer(uid: 1, pid: 2))
    _ = try bench.host.perform(command) {
      try body()
      return nil
    }
    store.commit()
  }

  @Test
  func `a change that was not passed on before a restart is passed on at the start`() throws {
    do {
      let (bench, bindings) = try start()
      try run(bench) {
        try bindings.add("k", "cells/a ~> cells/b")
        try bindings.add("l", "cells/c ~> cells/d")
        try bindings.add("m", "cells/e ~> cells/f")
        for (name, value) in [("a", 1), ("b", 1), ("d", 1), ("c", 2), ("f", 3)] {
          _ = try bench.cells.set(name, to: JSONText(value))
        }
        _ = try bench.cells.remove("a")
      }
    }
    let (bench, bindings) = try start()
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    store.commit()
    func value(_ cell: String) -> String? { bench.cells.ledger.value(of: "cells/\(cell)")?.text }
    #expect(value("b") == "null", "the source has gone")
    #expect(value("d") == "2", "the source has changed")
    #expect(value("f") == "3", "the source never had a value")
  }

  /// The history before a start, and the expected values after it.
  struct Row: CustomTestStringConvertible {
    let sign: String

    /// The steps: `l=1` sets the left cell, `r=` unsets the right one, `bind` binds them.
    let history: String
    let left: String?
    let right: String?

    init(_ sign: String, _ history: String, _ left: String?, _ right: String?) {
      (self.sign, self.history, self.left, self.right) = (sign, history, left, right)
    }

    var testDescription: String { "\(sign) after \(history)" }
  }

  private static let rows = [
    // The left source has changed, and the binding has not passed that on.
    Row("~>", "l=1 bind r=1 l=2", "2", "2"), Row("<~", "l=1 r=1 bind l=2", "2", "1"),
    Row("<>", "l=1 bind r=1 l=2", "2", "2"), Row("!~>", "l=1 bind l=2", "2", "2"),
    Row("<~!", "l=1 r=1 bind l=2", "2", "1"), Row("<!>", "l=1 r=1 bind l=2", "2", "2"),
    // The right source has changed.
    Row("~>", "l=1 bind r=1 r=5", "1", "5"), Row("<~", "r=1 bind l=1 r=5", "5", "5"),
    Row("<>", "l=1 bind r=1 r=5", "5", "5"), Row("!~>", "l=1 r=1 bind r=5", "1", "5"),
    Row("<~!", "l=1 r=1 bind r=5", "5", "5"), Row("<!>", "l=1 r=1 bind r=5", "5", "5"),
    // No change since; the values differed before.
    Row("~>", "r=5 l=1 bind", "1", "1"), Row("~>", "l=1 r=5 bind", "1", "1"),
    Row("<~", "l=1 r=5 bind", "5", "5"), Row("<>", "l=1 r=5 bind", "1", "1"),
    Row("!~>", "r=5 l=1 bind", "1", "5"), Row("<~!", "l=1 r=5 bind", "1", "5"),
    Row("<!>", "l=1 r=5 bind", "1", "5"),
    // A source was removed, or never existed.
    Row("~>", "l=1 bind r=1 l=", nil, "null"), Row("<>", "l=1 bind r=1 r=", "null", nil),
    Row("<>", "l=1 bind r=1 l= r=null", nil, "null"), Row("~>", "r=3 bind", nil, "3"),
    Row("~>", "l=1 l= r=3 bind", nil, "3"), Row("<>", "bind r=3", "3", "3"),
    // Both have changed: the newer value wins.
    Row("<>", "l=1 bind r=1 l=2 r=3", "3", "3"), Row("<!>", "bind r=3 l=2", "2", "2"),
    Row("~>", "l=1 bind r=1 l=2 r=7", "2", "7"),
    // A value is not written back if it would transform to another value.
    Row("<>|celsius_to_fahrenheit", "l=21.3 bind r=70.34", "21.3", "70.34"),
    Row(
      "<>|celsius_to_fahrenheit", "l=1 bind r=33.8 r=70.3456 l=21.303111111111113",
      "21.303111111111113", "70.3456"),
  ]

  @Test(arguments: rows)
  func `a start passes on only pending values`(row: Row) throws {
    do {
      let (bench, bindings) = try start()
      for step in row.history.split(separator: " ") {
        let parts = step.split(separator: "=", omittingEmptySubsequences: false)
        let sign = row.sign.split(separator: "|")
        let transformer = sign.count > 1 ? " | \(sign[1])" : ""
        try run(bench) {
          switch (parts[0], parts.count > 1 ? parts[1] : "") {
          case ("bind", _): try bindings.add("k", "cells/l \(sign[0]) cells/r\(transformer)")
          case (let cell, ""): _ = try bench.cells.remove("\(cell)")
          case (let cell, let value):
            _ = try bench.cells.set("\(cell)", to: JSONText(parsing: "\(value)"))
          }
        }
      }
    }
    var last: UInt64 = 0
    for _ in 0..<2 {
      let (bench, bindings) = try start()
      restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
      store.commit()
      store.commit()
      func value(_ cell: String) -> String? { bench.cells.ledger.value(of: "cells/\(cell)")?.text }
      #expect(value("l") == row.left)
      #expect(value("r") == row.right)
      #expect(last == 0 || store.last == last, "the second start has nothing to do")
      last = store.last
      let client = bench.connect()
      #expect(client.call(#"{"id":1,"method":"bindings.list"}"#).contains(#""active":true"#))
      #expect(!client.call(#"{"id":1,"method":"bindings.list"}"#).contains("failure"))
    }
  }

  /// The value of a source that was passed on late, while the next one was recorded already.
  ///
  /// Steps are `l=1` and so on, `bind` and, for a write of the binding, `r=1<l@2`: it has seen the left
  /// end up to position 2.
  struct Late: CustomTestStringConvertible {
    let expression: String
    let history: String
    let left: String
    let right: String

    init(_ expression: String, _ history: String, _ left: String, _ right: String) {
      (self.expression, self.history, self.left, self.right) = (expression, history, left, right)
    }

    var testDescription: String { "\(expression) after \(history)" }
  }

  private static let late = [
    Late("cells/l ~> cells/r", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    Late("cells/l ~> cells/r", "bind l=1 l=2 r=2<cells/l@3", "2", "2"),
    Late("cells/l !~> cells/r", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    Late("cells/r <~ cells/l", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    Late("cells/l <> cells/r", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    Late("cells/r <> cells/l", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    // Made while a value was not durable yet.
    Late("cells/l ~> cells/r", "l=1 l=2 bind r=1<cells/l@1", "2", "2"),
    // Another one has written since, or the other end is newer.
    Late("cells/l ~> cells/r", "bind l=1 l=2 r=1<cells/l@2 r=7", "2", "7"),
    Late("cells/l <> cells/r", "bind l=1 l=2 r=1<cells/l@2 r=7", "7", "7"),
    Late("cells/l ~> cells/r", "bind l=1 l=2 r=7<cells/x@2", "2", "7"),
    Late("cells/l <> cells/r", "bind r=1 r=2 l=1<cells/r@2", "2", "2"),
    Late(
      "cells/l <> cells/r | celsius_to_fahrenheit",
      "bind l=21.303111111111113 r=70.3456<cells/l@2", "21.303111111111113", "70.3456"),
    // Lists and operators.
    Late(
      "(cells/l, cells/y) ~> cells/r", "bind l=1 l=2 r=[1,null]<(cells/l,_cells/y)@2", "2",
      "[2,null]"),
    Late("cells/l | where(above, 0) ~> cells/r", "bind l=1 l=2 r=1<cells/l@2", "2", "2"),
    Late("cells/l | where(above, 0) ~> cells/r", "bind l=1 l=2 r=9<cells/l@3", "2", "9"),
  ]

  @Test(arguments: late)
  func `a value that was recorded before the write of an older one is passed on`(
    row: Late
  ) throws {
    do {
      let (bench, bindings) = try start()
      for step in row.history.split(separator: " ") {
        let parts = step.split(separator: "<")
        var command = Command(method: "test", caller: Peer(uid: 1, pid: 2))
        if parts.count > 1, let mark = parts[1].lastIndex(of: "@") {
          let seq: UInt64 = try #require(UInt64(String(parts[1][mark...].dropFirst())))
          command.cause = .init(
            source: String(parts[1][..<mark].replacing("_", with: " ")), seq: seq)
        }
        _ = try bench.host.perform(command) {
          let pair = parts[0].split(separator: "=", maxSplits: 1)
          if pair.count > 1 {
            _ = try bench.cells.set("\(pair[0])", to: JSONText(parsing: "\(pair[1])"))
          } else {
            try bindings.add("k", row.expression)
          }
          return nil
        }
        store.commit()
      }
    }
    var last: UInt64 = 0
    for _ in 0..<2 {
      let (bench, bindings) = try start()
      restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
      for _ in 0..<2 {
        bench.table.flush()
        store.commit()
      }
      func value(_ cell: String) -> String? { bench.cells.ledger.value(of: "cells/\(cell)")?.text }
      #expect(value("l") == row.left)
      #expect(value("r") == row.right)
      #expect(last == 0 || store.last == last, "the second start has nothing to do")
      last = store.last
    }
  }

  /// The next value of a source is recorded before the first one is durable and passed on.
  ///
  /// The daemon is killed when the next value and the write of the binding are both on the disk.
  @Test(arguments: [
    ("cells/a ~> cells/b", "2"), ("cells/a <> cells/b", "2"),
    ("(cells/a, cells/c) ~> cells/b", "[2,null]"), ("cells/a | where(above, 0) ~> cells/b", "2"),
    ("cells/a | delay(1s) ~> cells/b", "2"), ("cells/a | count ~> cells/b", "2"),
  ])
  func `a kill while a newer value is on its way loses no value`(
    expression: String, expected: String
  ) throws {
    var killed: MemoryStore?
    do {
      let (bench, _) = try start()
      let client = bench.connect()
      let bind = JSONText(string: expression).text
      _ = client.call(
        #"{"id":1,"method":"bind","params":{"expr":\#(bind),"scope":"daemon","binding":"k"}}"#)
      client.send(#"{"id":2,"method":"cells.set","params":["a",1]}"#)
      client.send(#"{"id":3,"method":"cells.set","params":["a",2]}"#)
      store.commit(1)
      bench.table.flush()
      bench.time.advance(1_000)
      bench.table.flush()
      killed = store.killed()
    }
    let after = try #require(killed)
    let (bench, bindings) = try start(on: after)
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    for _ in 0..<3 {
      after.commit()
      bench.table.flush()
      bench.time.advance(1_000)
    }
    #expect(bench.cells.ledger.value(of: "cells/b")?.text == expected)
  }

  private func people() throws -> (Bench, BindingsService, PeopleService) {
    var made: (BindingsService, PeopleService)?
    let bench = try Bench(store) { catalog, parts in
      let host = parts.host
      let (bindings, people) = (BindingsService(in: host), PeopleService(in: host.library))
      bindBindings(catalog, to: bindings, parts.live)
      bindPeople(catalog, to: people)
      made = (bindings, people)
    }
    let (bindings, people) = try #require(made)
    return (bench, bindings, people)
  }

  @Test
  func `the last change of a part of a row is found behind many events of the row`() throws {
    do {
      let (bench, bindings, people) = try people()
      try run(bench) { _ = try people.create(name: "Kim", color: nil) }
      try run(bench) { try bindings.add("k", "people/1/name <> cells/kim") }
      try run(bench) { _ = try bench.cells.set("kim", to: JSONText(string: "Robin")) }
      let colors = try [PeopleService.color("#ff0000"), PeopleService.color("#00ff00")]
      try run(bench) { for i in 0..<20_200 { _ = try people.color(1, colors[i % 2]) } }
    }
    let last = store.last
    let (bench, bindings, _) = try people()
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    store.commit()
    #expect(bench.cells.ledger.value(of: "cells/kim")?.text == #""Robin""#)
    let name = bench.connect().call(#"{"id":1,"method":"get","params":["people/1/name"]}"#)
    #expect(name.contains(#""value":"Robin""#))
    #expect(store.last == last + 1)
  }

  /// The name of a person is a part of the recorded value.
  @Test
  func `the newer event is that of the source itself, not of its parent value`() throws {
    do {
      let (bench, bindings, people) = try people()
      try run(bench) { _ = try people.create(name: "Kim", color: nil) }
      try run(bench) { try bindings.add("k", "people/1/name <> cells/kim") }
      try run(bench) { _ = try bench.cells.set("kim", to: JSONText(string: "Kim")) }
      try run(bench) { _ = try bench.cells.set("kim", to: JSONText(string: "Robin")) }
      try run(bench) { _ = try people.color(1, PeopleService.color("#ff0000")) }
    }
    let (bench, bindings, _) = try people()
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    store.commit()
    #expect(bench.cells.ledger.value(of: "cells/kim")?.text == #""Robin""#)
    let client = bench.connect()
    #expect(
      client.result(#"{"id":1,"method":"get","params":["people/1/name"]}"#)?["value"]
        == .string("Robin"))
  }

  @Test(arguments: [true, false])
  func `a binding writes as its creator also after a restart`(isFromSnapshot: Bool) throws {
    do {
      let (bench, bindings) = try start()
      try run(bench) { try bindings.add("k", "cells/a ~> cells/b") }
      if isFromSnapshot { bench.host.saveSnapshots() }
      store.commit()
    }
    let (bench, bindings) = try start()
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    let before = bench.host.stateBytes(of: 1)
    _ = bench.connect(uid: 7).call(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    #expect(bench.cells.ledger.value(of: "cells/b")?.text == "1")
    var metas: [String] = []
    store.replay(after: 0) { metas = $0.records.compactMap(\.meta) }
    let cause = #""cause":{"source":"cells/a","seq":2,"binding":"cells/a ~> cells/b"}"#
    #expect(metas.last == #"{"uid":1,"pid":0,"method":"bind",\#(cause)}"#)
    #expect(bench.host.stateBytes(of: 1) > before)
    #expect(bench.host.stateBytes(of: 0) == 0)
  }

  @Test
  func `a restored value passes through a chain of bindings`() throws {
    do {
      let (bench, bindings) = try start()
      try run(bench) {
        try bindings.add("k", "cells/b ~> cells/c")
        try bindings.add("l", "cells/a ~> cells/b")
        _ = try bench.cells.set("a", to: JSONText(1))
      }
    }
    let (bench, bindings) = try start()
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { Issue.record("\($0)") }
    for _ in 0..<3 { store.commit() }
    #expect(bench.cells.ledger.value(of: "cells/c")?.text == "1")
  }

  @Test
  func `a binding over the length limit is reported, not restored, and can be unbound`() throws {
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
    restoreBindings(bench.rights[.owner], bindings, bench.liveBindings) { faults.append($0) }
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
