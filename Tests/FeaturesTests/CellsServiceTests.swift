import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing

@Suite(.leavesNothing)
struct CellsServiceTests {
  let bench: Bench

  init() throws {
    bench = try Bench()
  }

  private func error(_ body: () throws -> JSONText?) -> CellsError? {
    do throws(Refusal) {
      try bench.run(nil, body)
      return nil
    } catch {
      if case .service(let error) = error { return error as? CellsError }
      return nil
    }
  }

  @Test
  func `commands see pending events, and clients see only durable values`() throws {
    try bench.run { JSONText(try bench.cells.toggle("lamp")) }
    try bench.run { JSONText(try bench.cells.toggle("lamp")) }
    #expect(bench.value("cells/lamp") == nil)
    bench.store.commit()
    #expect(bench.value("cells/lamp") == "false")
  }

  @Test
  func `a cell is set, changed and removed`() throws {
    try bench.set("a/b", #"{"x":[1,2.50]}"#)
    bench.store.commit()
    #expect(bench.value("cells/a/b") == #"{"x":[1,2.50]}"#)
    try bench.set("a/b", "null")
    bench.store.commit()
    #expect(bench.value("cells/a/b") == "null")
    #expect(try bench.run { JSONText(try bench.cells.remove("a/b")) }.value?.text == "true")
    bench.store.commit()
    #expect(bench.value("cells/a/b") == nil)
    let again = try bench.run { JSONText(try bench.cells.remove("a/b")) }
    #expect(again.value?.text == "false")
    #expect(again.seq == nil, "nothing was recorded")
  }

  @Test
  func `numbers are added exactly, from 0 on`() throws {
    for (by, sum) in [("1", "1"), ("0.1", "1.1"), ("0.2", "1.3"), ("-1.3", "0")] {
      let accepted = try bench.run {
        JSONText(
          trusted: try bench.cells.add(#require(JSONNumber(by)), to: "visits").text)
      }
      #expect(accepted.value?.text == sum)
    }
    try bench.set("text", "\"x\"")
    let one = try #require(JSONNumber("1"))
    #expect(
      error { JSONText(trusted: try bench.cells.add(one, to: "text").text) }
        == .notANumber(name: "text"))
    try bench.set("huge", "1e300")
    #expect(
      error { JSONText(trusted: try bench.cells.add(one, to: "huge").text) }
        == .outOfRange(name: "huge"))
  }

  @Test
  func `toggle inverts a boolean and refuses any other value`() throws {
    #expect(try bench.run { JSONText(try bench.cells.toggle("lamp")) }.value?.text == "true")
    #expect(try bench.run { JSONText(try bench.cells.toggle("lamp")) }.value?.text == "false")
    try bench.set("lamp", "1")
    #expect(error { JSONText(try bench.cells.toggle("lamp")) } == .notABoolean(name: "lamp"))
  }

  @Test
  func `a cell is set if it holds the expected value`() throws {
    func swap(_ expected: String?, _ value: String) throws -> CellsError? {
      let expected = try expected.map { try JSONText(parsing: $0) }
      let value = try JSONText(parsing: value)
      return error { try bench.cells.compareAndSet("lock", expected: expected, to: value) }
    }
    #expect(try swap("1", "2") == .differs(name: "lock"))
    #expect(try swap(nil, #"{"a":1,"b":2}"#) == nil)
    #expect(try swap(nil, "1") == .differs(name: "lock"))
    #expect(try swap(#"{"b":2.0,"a":1}"#, "\"mine\"") == nil)
    bench.store.commit()
    #expect(bench.value("cells/lock") == "\"mine\"")
  }

  @Test
  func `names and values have limits`() throws {
    #expect(error { try bench.cells.set("", to: .null) } == .badName(rule: "a name is not empty"))
    #expect(
      error { try bench.cells.set("a b", to: .null) }
        == .badName(rule: "a name is made of A-Z a-z 0-9 _ . : - and /"))
    let long = String(repeating: "x", count: 194)
    #expect(error { try bench.cells.set(long, to: .null) } == nil)
    #expect(
      error { try bench.cells.set(long + "x", to: .null) }
        == .badName(rule: "a name has at most 194 bytes"))
    let eight = "a/b/c/d/e/f/g"
    #expect(error { try bench.cells.set(eight, to: .null) } == nil)
    let value = JSONText(string: String(repeating: "x", count: 256 * 1024 - 2))
    #expect(error { try bench.cells.set("v", to: value) } == nil)
    let larger = JSONText(string: String(repeating: "x", count: 256 * 1024 - 1))
    #expect(
      error { try bench.cells.set("v", to: larger) } == .badValue(.tooLong(bytes: 256 * 1024 + 1)))
  }

  @Test
  func `a value that is nested too deep to be sent is refused`() throws {
    func nested(_ depth: Int) throws -> JSONText {
      try JSONText(
        parsing: String(repeating: #"{"a":["#, count: depth / 2)
          + String(repeating: "[", count: depth % 2) + #""\"[[{""#
          + String(repeating: "]", count: depth % 2) + String(repeating: "]}", count: depth / 2))
    }
    let bench = try Bench()
    #expect(try ValueFault(nested(56)) == nil)
    #expect(try ValueFault(nested(57)) == .tooDeep)
    let brackets = JSONText(string: String(repeating: "[", count: 500))
    #expect(ValueFault(brackets) == nil)
    #expect(throws: Refusal.self) {
      try bench.run { try bench.cells.set("v", to: try nested(57)) }
    }
  }

  @Test
  func `cells are listed by prefix`() throws {
    for name in ["a/1", "a/2", "ab", "b"] { try bench.set(name, "\"\(name)\"") }
    bench.store.commit()
    #expect(
      bench.cells.list(prefix: "a/").mapValues(\.text) == ["a/1": "\"a/1\"", "a/2": "\"a/2\""])
    #expect(bench.cells.list(prefix: "").count == 4)
  }

  @Test
  func `each cell is a separate stream`() throws {
    try bench.set("a", "1")
    try bench.set("b", "1")
    let third = try bench.run { try bench.cells.set("a", to: JSONText(2)) }
    #expect(third.seq == 3)
    #expect(third.version == 2)
    bench.store.commit()
    let records = bench.store.records
    #expect(records.map(\.stream) == ["cells/a", "cells/b", "cells/a"])
    #expect(records.map(\.type) == ["cells.set", "cells.set", "cells.set"])
    #expect(records.map(\.data) == [#"{"value":1}"#, #"{"value":1}"#, #"{"value":2}"#])
    #expect(records[0].draft.meta == #"{"uid":1,"pid":2,"method":"test.run"}"#)
  }

  @Test
  func `an event is decoded from its own text`() {
    let coder = EventCoder()
    for event in [CellEvent.set(JSONText(string: "x")), .set(.null), .removed] {
      var data = ByteBuffer()
      let kind = event.write(to: &data, coder)
      #expect(CellEvent(kind: kind, data: JSONText(trusted: data.string), coder) == event)
    }
    #expect(CellEvent(kind: "later", data: JSONText(trusted: "{}"), coder) == nil)
    #expect(CellEvent(kind: "set", data: JSONText(trusted: "{}"), coder) == nil)
  }
}
