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

/// Bindings that run over past events.
@Suite(.leavesNothing)
struct BindTrialTests {
  private let store: MemoryStore
  private let time: ManualTime
  private let bench: Bench
  private let client: TestClient
  private static let start: Int64 = 1_767_323_045_000_000

  init() throws {
    let time = ManualTime()
    let store = MemoryStore(epoch: "7f3a9c52") { Self.start + Int64(time.milliseconds) * 1000 }
    (self.time, self.store) = (time, store)
    bench = try Bench(store, time: time) { catalog, parts in
      bindLists(catalog, to: ListsService(in: parts.host))
      bindBindings(catalog, to: BindingsService(in: parts.host), parts.live)
    }
    client = bench.connect()
  }

  private func set(_ source: String, _ value: String) {
    _ = client.call(#"{"id":3,"method":"set","params":["\#(source)",\#(value)]}"#)
  }

  private func wait(_ seconds: Double) {
    time.advance(UInt64(seconds * 1000))
    _ = client.settle()
  }

  private func bind(_ expression: String, by other: TestClient? = nil) {
    let text = JSONText(string: expression).text
    #expect(
      (other ?? client).result(
        #"{"id":1,"method":"bind","params":{"expr":\#(text),"scope":"daemon","binding":"b"}}"#)
        != nil)
    _ = client.settle()
  }

  private func line(_ expression: String, _ rest: String = "") -> String {
    #"{"id":1,"method":"bindings.try","params":{"expr":\#(JSONText(string: expression).text)\#(rest)}}"#
  }

  private func attempt(_ expression: String, _ rest: String = "") throws -> Report {
    try Report(client.call(line(expression, rest)))
  }

  /// The result of a trial.
  private struct Report {
    let value: JSONObject
    init(_ answer: String) throws {
      guard case .object(let whole) = try JSONValue(parsing: answer),
        case .object(let result)? = whole["result"], case .object(let value)? = result["value"]
      else {
        Issue.record("\(answer)")
        value = [:]
        return
      }
      self.value = value
    }

    /// The counts: writes, the same, only in the trial, only in truth.
    var counts: [String] {
      guard case .object(let counts)? = value["counts"] else { return [] }
      return ["writes", "same", "only_trial", "only_truth"].map { counts[$0]?.text.text ?? "-" }
    }

    /// Each row as the seconds since the start, the source, both values, and who has written.
    var rows: [String] {
      guard case .array(let rows)? = value["rows"] else { return [] }
      return rows.map { row in
        guard case .object(let row) = row, case .string(let text)? = row["time"],
          let time = Timestamp(text), case .string(let source)? = row["source"],
          case .string(let written)? = row["written"]
        else { return "" }
        let seconds = Double(time.microseconds - BindTrialTests.start) / 1_000_000 - 1
        let values = ["value", "truth"].map { row[$0]?.text.text ?? "-" }
        return "\(seconds) \(source) \(values.joined(separator: " ")) \(written)"
      }
    }
  }

  // MARK: The past

  @Test
  func `a trial goes through the dates of a schedule`() throws {
    set("cells/a", "1")
    wait(40 * 86_400)
    set("cells/a", "2")
    let report = try attempt(
      #"every("*-31,02-01,2026-02-03 08:00") ~> cells/x"#, #","since":{"seq":1}"#)
    let days = ["31", "01", "03"].map { $0 == "31" ? "2026-01-31" : "2026-02-\($0)" }
    #expect(report.rows.count == 3)
    for (row, day) in zip(report.rows, days) {
      #expect(row.contains(#"cells/x "\#(day)T08:00:00.000000Z""#), "\(row)")
    }
  }

  /// Sources change at irregular times while a binding lives.
  private static let expressions = [
    "cells/a ~> cells/x", "cells/a | round(0) ~> cells/x", "cells/a | debounce(5s) ~> cells/x",
    "cells/a | throttle(7s) ~> cells/x", "cells/a | sample(10s) ~> cells/x",
    "cells/a | delay(3s) ~> cells/x", "cells/a | count ~> cells/x",
    "cells/a | scan(avg, 60s) | round(3) ~> cells/x", "cells/a | hysteresis(3, 7) ~> cells/x",
    "cells/a | where(above, 5) | distinct ~> cells/x", "cells/x <~ cells/a", "cells/a <> cells/x",
    "(cells/a, cells/b) | sum ~> cells/x", "cells/a | above(cells/b, 0.5) ~> cells/x",
    "every(30s) ~> cells/x", "lists/l | length ~> cells/x",
  ]

  @Test(arguments: expressions)
  func `a trial of a binding that was there writes what it has written`(
    expression: String
  ) throws {
    bind(expression)
    let begun = store.last
    var random = SeededRandom(seed: UInt64(expression.utf8.count))
    for i in 0..<60 {
      switch random.next() % 4 {
      case 0, 1: set("cells/a", "\(Double(random.next() % 100) / 10)")
      case 2: set("cells/b", "\(Double(random.next() % 100) / 10)")
      default:
        _ = client.call(
          #"{"id":3,"method":"lists.append","params":{"name":"l","value":\#(i)}}"#)
      }
      wait(Double(random.next() % 9000) / 1000)
    }
    wait(30)
    let report = try attempt(expression, #","since":{"seq":\#(begun)},"limit":1000"#)
    #expect(report.counts[0] != "0")
    #expect(report.counts[0] == report.counts[1], "\(report.rows.filter { !$0.hasSuffix("both") })")
    #expect(report.counts.suffix(2) == ["0", "0"])
  }

  @Test
  func `a trial names sources that never had a value, as bind does`() throws {
    set("cells/a", "1")
    func noValue(_ report: Report) -> JSONValue? { report.value["no_value"] }
    #expect(noValue(try attempt("cells/a ~> cells/x")) == nil)
    #expect(
      noValue(try attempt("cells/aa | below(cells/aa) ~> cells/x")) == .array([.string("cells/aa")])
    )
    let text = JSONText(string: "cells/a ~> cells/b\n(cells/b, cells/no) | sum ~> cells/c").text
    let line = #"{"id":1,"method":"bindings.try","params":{"text":\#(text)}}"#
    #expect(noValue(try Report(client.call(line))) == .array([.string("cells/no")]))
    #expect(
      client.result(
        #"{"id":1,"method":"bind","params":{"expr":"cells/no | above(cells/no) ~> cells/x"}}"#)?[
          "no_value"] == .array([.string("cells/no")]), "each source once")
  }

  @Test
  func `a trial refuses what a list refuses`() throws {
    set("cells/a", "5")
    let report = try attempt("cells/a ~> lists/u", #","since":{"seq":0}"#)
    #expect(
      report.rows == ["0.0 lists/u 5 - refused"] || report.rows.first?.hasSuffix("refused") == true)
    #expect(report.counts[0] == "0")
    set("cells/a", "[1]")
    #expect(try attempt("cells/a ~> lists/u", #","since":{"seq":1}"#).counts[0] == "1")
  }

  @Test(arguments: [
    ("cells/a | plus(cells/b) ~> cells/x", "unknown transformer 'plus' at column 11"),
    (
      "cells/a | belwo(cells/b) ~> cells/x",
      "unknown transformer 'belwo': did you mean 'below'? at column 11"
    ),
    (
      "cells/a | round(cells/b) ~> cells/x",
      "'round' takes a value here, not the path 'cells/b'; combine paths: (a, b) | … at column 17"
    ),
  ])
  func `an unknown transformer of a source is named as such`(
    expression: String, message: String
  ) {
    for method in ["bind", "bindings.try"] {
      let line = #"{"id":1,"method":"\#(method)","params":{"expr":"\#(expression)"}}"#
      #expect(client.error(line)?.message == message)
    }
  }

  @Test
  func `another line is shown beside what was written in truth, without effect`() throws {
    bind("cells/t | below(18) ~> cells/heater")
    for value in [21.0, 19, 17, 19.5, 21] {
      wait(600)
      set("cells/t", "\(value)")
    }
    let last = store.last
    let report = try attempt("cells/t | below(20) ~> cells/heater", #","since":{"seq":1}"#)
    #expect(
      report.rows == [
        "600.0 cells/heater false false both", "1200.0 cells/heater true false trial",
        "1800.0 cells/heater true true truth", "2400.0 cells/heater true false truth",
        "3000.0 cells/heater false false trial",
      ])
    #expect(report.counts == ["3", "1", "2", "2"])
    #expect(store.last == last)
  }

  @Test
  func `what a person sets counts in the trial too`() throws {
    bind("cells/t | below(18) ~> cells/heater")
    set("cells/t", "15")
    wait(60)
    set("cells/heater", "false")
    wait(60)
    set("cells/t", "14")
    let report = try attempt("cells/t | below(18) ~> cells/heater", #","since":{"seq":1}"#)
    #expect(
      report.rows == ["0.0 cells/heater true true both", "120.0 cells/heater true true both"])
  }

  @Test
  func `operators are fed from before the start`() throws {
    set("cells/a", "10")
    wait(100)
    let since = Timestamp(microseconds: Self.start + 111_000_000).text
    set("cells/a", "20")
    wait(20)
    set("cells/a", "30")
    let report = try attempt(
      "cells/a | scan(avg, 1h) | round(1) ~> cells/x", #","since":{"time":"\#(since)"}"#)
    #expect(report.rows == ["120.0 cells/x 20 - trial"])
  }

  @Test
  func `a file runs as a whole, and its lines feed each other`() throws {
    set("cells/a", "1")
    wait(5)
    set("cells/a", "2")
    let text = JSONText(
      string: "# two\ndouble: cells/a | scale(2) ~> cells/b\n(cells/a, cells/b) | sum ~> cells/c\n")
    let report = try Report(
      client.call(
        #"{"id":1,"method":"bindings.try","params":{"text":\#(text.text),"file":"h.bind","since":{"seq":0}}}"#
      ))
    #expect(
      report.rows == [
        "0.0 cells/b 2 - trial", "0.0 cells/c 3 - trial", "5.0 cells/b 4 - trial",
        "5.0 cells/c 6 - trial",
      ])
  }

  @Test
  func `rows beyond the limit are counted, and refused values too`() throws {
    for value in ["1", "2", "true", "3"] {
      set("cells/a", value)
      wait(5)
    }
    let report = try attempt("cells/a | scale(2) ~> cells/x", #","since":{"seq":0},"limit":1"#)
    #expect(report.rows == ["0.0 cells/x 2 - trial"])
    #expect(report.counts[0] == "3")
    #expect(report.value["faults"]?.text.text == "1")
    #expect(report.value["fault"]?.text.text.contains("not true") == true)
  }

  // MARK: Bad input

  private static let bad: [(String, String)] = [
    (#""expr":"cells/a ~>""#, "invalid_params"), (#""expr":"cells/a ~> cells/a""#, "binding_cycle"),
    (#""expr":"nothing/a ~> cells/b""#, "not_found"),
    (#""expr":"system/load ~> cells/b""#, "invalid_params"),
    (#""expr":"cells/a ~> system/load""#, "not_bindable"),
    (#""expr":"cells/a ~> cells/b","text":"x""#, "invalid_params"), ("", "invalid_params"),
    (#""expr":"cells/a ~> cells/b","since":{"seq":99}"#, "seq_future"),
    (#""expr":"cells/a ~> cells/b","since":{"time":"2030-01-01T00:00:00Z"}"#, "invalid_params"),
    (#""expr":"cells/a ~> cells/b","until":"soon""#, "invalid_params"),
    (#""expr":"cells/a ~> cells/b","limit":1001"#, "invalid_params"),
    (#""text":"cells/a ~> cells/b\ncells/a | what ~> cells/c\nnone/x ~> cells/d""#, "rejected"),
  ]

  @Test(arguments: bad)
  func `33: a trial of what is no binding is refused`(params: String, name: String) {
    let error = client.error(#"{"id":1,"method":"bindings.try","params":{\#(params)}}"#)
    #expect(error?.name.rawValue == name)
    if name == "rejected" {
      #expect(error?.message.contains("text:2:11: ") == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("text:3:1: ") == true, "\(error?.message ?? "")")
    }
  }

  @Test
  func `33: a trial needs the rights to read and write`() {
    let others: [Role] = [
      .made(read: ["cells/a"], write: ["cells/b"]),
      .made(read: ["cells/b"], write: ["cells/b"]),
    ]
    for role in others {
      let guest = bench.connect(uid: 1002, as: role)
      let error = guest.error(line("cells/a ~> cells/b"))
      #expect(error?.name == .notFound || error?.name == .permissionDenied)
    }
    let reader = bench.connect(uid: 1002, as: .made(read: ["cells/*"], write: []))
    #expect(reader.error(line("cells/a ~> cells/b"))?.name == .permissionDenied)
  }

  @Test
  func `33: a trial over removed events is refused; without a start it begins behind them`() throws
  {
    for value in 1...3 {
      set("cells/a", "\(value)")
      wait(5)
    }
    bench.host.saveSnapshots()
    for value in 4...6 {
      set("cells/a", "\(value)")
      wait(5)
    }
    store.remove(
      Removal(first: 1, last: 3, runs: [1...3], services: ["cells": 3, Removal.anyService: 3]))
    store.remove()
    let error = client.error(line("cells/a ~> cells/x", #","since":{"seq":1}"#))
    #expect(error?.name == .seqExpired)
    let report = try attempt("cells/a ~> cells/x")
    #expect(report.rows.last == "25.0 cells/x 6 - trial")
    #expect(report.counts[0] == "3")
  }

  @Test
  func `33: a trial of rules that make more and more values of one ends with a message`() throws {
    set("cells/a0", "0")
    wait(5)
    var lines: [String] = []
    for level in 0..<40 {
      lines.append("cells/a\(level) ~> cells/a\(level + 1)")
      lines.append("cells/a\(level) | offset(\(1 << level)) ~> cells/a\(level + 1)")
    }
    let text = JSONText(string: lines.joined(separator: "\n")).text
    let answer = client.call(
      #"{"id":1,"method":"bindings.try","params":{"text":\#(text),"since":{"seq":0}}}"#)
    #expect(answer.contains("its values and timers that wait"), "\(answer.prefix(300))")
  }

  @Test
  func `33: a trial does not show the bindings of sources that a role may not read`() throws {
    bind(#"cells/secret | equals("4711") ~> cells/door"#)
    for value in [#""1""#, #""4711""#] {
      set("cells/secret", value)
      wait(60)
    }
    let expression = "cells/x ~> cells/door"
    #expect(client.call(line(expression, #","since":{"seq":0}"#)).contains("4711"))
    let guest = bench.connect(
      uid: 1002, as: .made(read: ["cells/x", "cells/door"], write: ["cells/door"]))
    let answer = guest.call(line(expression, #","since":{"seq":0}"#))
    #expect(answer.contains("truth") && !answer.contains("4711"), "\(answer)")
  }

  @Test
  func `a user has one trial at a time`() {
    let other = bench.connect()
    client.send(line("cells/a ~> cells/b"))
    #expect(other.error(line("cells/a ~> cells/b"))?.message.contains("another trial") == true)
    #expect(client.settle().joined().contains("counts"))
    #expect(other.call(line("cells/a ~> cells/b")).contains("counts"))
  }
}
