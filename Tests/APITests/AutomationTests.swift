import API
import BinderTesting
import Configuration
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import Synchronization
import TestSupport
import Testing
import Wire

/// Bindings with operators, several sources and `every`, with virtual time.
@Suite(.leavesNothing)
struct AutomationTests {
  private let store: MemoryStore
  private let time: ManualTime
  fileprivate static let start: Int64 = 1_767_323_045_000_000

  init() {
    let time = ManualTime()
    self.time = time
    // The clock of the journal follows the virtual time.
    store = MemoryStore(epoch: "7f3a9c52") { Self.start + Int64(time.milliseconds) * 1000 }
  }

  /// Starts a daemon on the journal, with its stored bindings and those of a file.
  private func open(_ file: String = "") throws -> Daemon {
    try Daemon(store, time, file)
  }

  // MARK: Several sources

  @Test
  func `a list passes on its aggregate, one value per write`() throws {
    let daemon = try open()
    daemon.set("b", "2")
    daemon.bind("(cells/a, cells/b, cells/c) | sum ~> cells/total")
    #expect(daemon.value("total") == "2")
    let last = store.last
    daemon.client.send(
      daemon.line("a", "0.1"), daemon.line("b", "0.2"), daemon.line("c", "10"))
    _ = daemon.client.settle()
    #expect(daemon.value("total") == "10.3")
    #expect(store.last == last + 4, "three writes and one result")
    _ = daemon.client.call(#"{"id":1,"method":"cells.remove","params":["c"]}"#)
    #expect(daemon.value("total") == "0.3", "a removed source counts as null")
  }

  private static let aggregates: [(String, String)] = [
    ("sum", "6"), ("avg", "2"), ("min", "1"), ("max", "3"), ("length", "4"),
    (#"pick("/1")"#, "2"), ("avg | above(2)", "false"), ("avg | between(2, 2)", "true"),
  ]

  @Test(arguments: aggregates)
  func `an array has an aggregate, without null`(call: String, result: String) throws {
    let daemon = try open()
    for (cell, value) in [("a", "1"), ("b", "2"), ("c", "3")] { daemon.set(cell, value) }
    daemon.bind("(cells/a, cells/b, cells/c, cells/none) | \(call) ~> cells/x")
    #expect(daemon.value("x") == result)
  }

  @Test
  func `all and any combine booleans`() throws {
    let daemon = try open()
    daemon.set("a", "true")
    daemon.bind("(cells/a, cells/b) | all ~> cells/all")
    daemon.bind("(cells/a, cells/b) | any ~> cells/any")
    #expect([daemon.value("all"), daemon.value("any")] == ["false", "true"])
    daemon.set("b", "true")
    #expect([daemon.value("all"), daemon.value("any")] == ["true", "true"])
    daemon.set("b", "1")
    #expect(daemon.list.contains("'all' takes true or false, not 1"))
  }

  // MARK: Two values

  @Test
  func `a value is compared with another source`() throws {
    let daemon = try open()
    daemon.bind("cells/celsius | below(cells/wanted, 0.5) ~> cells/heater")
    daemon.set("celsius", "18")
    #expect(daemon.value("heater") == nil, "there is nothing to compare with")
    daemon.set("wanted", "20")
    #expect(daemon.value("heater") == "true")
    daemon.set("celsius", "20.2")
    #expect(daemon.value("heater") == "true", "within the margin nothing changes")
    daemon.set("celsius", "20.5")
    #expect(daemon.value("heater") == "false")
    daemon.set("wanted", "21")
    #expect(daemon.value("heater") == "true", "the other source counts too")
    #expect(daemon.list.contains("cells/celsius | below(cells/wanted, 0.5) ~> cells/heater"))
  }

  private static let pairs: [(String, String?)] = [
    ("cells/a | above(cells/b) ~> cells/x", "true"),
    ("cells/a | below(cells/b) ~> cells/x", "false"),
    ("cells/a | equals(cells/b) ~> cells/x", "false"),
    ("cells/a | differs(cells/b) ~> cells/x", "true"),
    ("cells/a | minus(cells/b) ~> cells/x", "2.4"),
    ("(cells/a, cells/b) | minus ~> cells/x", "2.4"),
    ("(cells/a, cells/b) | times ~> cells/x", "3.25"),
    ("(cells/a | round(0), cells/b | negate) | sum ~> cells/x", "1.7"),
    ("(cells/a, cells/zero) | divided ~> cells/x", "null"),
    ("(cells/none | default(1), cells/b) | sum ~> cells/x", "2.3"),
    ("(cells/a, cells/none) | minus ~> cells/x", "null"),
    ("(cells/a, cells/none) | times ~> cells/x", "null"),
    (#"(cells/o | pick("/v"), cells/b) | minus ~> cells/x"#, "0.7"),
  ]

  @Test(arguments: pairs)
  func `two values are combined without a helper cell`(expression: String, result: String?) throws {
    let daemon = try open()
    for (cell, value) in [("a", "2.5"), ("b", "1.3"), ("zero", "0"), ("o", #"{"v":2}"#)] {
      daemon.set(cell, value)
    }
    if expression.contains("minus(cells/b)") || expression.hasPrefix("(cells/a, cells/b) | minus") {
      daemon.set("a", "3.7")
    }
    daemon.bind(expression)
    #expect(daemon.value("x") == result)
  }

  @Test
  func `an operator inside a list is refused, with its column`() throws {
    let daemon = try open()
    let error = daemon.client.error(
      #"{"id":1,"method":"bind","params":{"expr":"(cells/a | count, cells/b) | sum ~> cells/x"}}"#)
    #expect(
      error?.message == "'count' keeps values or answers later: use it behind the list at column 12"
    )
  }

  /// A list never sees a new value of one source with the old value of another that follows it.
  @Test(arguments: [0, 1, 3, 30])
  func `a list has no glitches`(depth: Int) throws {
    let daemon = try open()
    // First in the order of creation, so that it is notified first.
    daemon.bind("(cells/s0, cells/s\(depth)) ~> cells/pair", isKept: false)
    for i in 0..<depth {
      let source = i == 1 ? "(cells/s1) | sum" : "cells/s\(i)"
      daemon.bind("\(source) ~> cells/s\(i + 1)")
    }
    for i in 1...5 {
      daemon.set("s0", "\(i)")
      // Each of them follows one write later.
      for _ in 0..<depth / 4 { daemon.settle() }
    }
    for pair in daemon.values(of: "cells/pair") {
      let parts = pair.dropFirst().dropLast().split(separator: ",")
      #expect(parts.count == 2 && parts[0] == parts[1], "\(pair)")
    }
    #expect(daemon.value("pair") == "[5,5]")
  }

  @Test
  func `30: hundreds of lists that follow each other are evaluated once for each write`() throws {
    let daemon = try open()
    let count = 400
    for i in 1...count {
      let others = (max(1, i - 31)..<i).map { "cells/t\($0)" }
      daemon.bind("(\((["cells/a"] + others).joined(separator: ", "))) | max ~> cells/t\(i)")
    }
    daemon.set("a", "1")
    for _ in 0..<count / 4 { daemon.settle() }
    let steps = daemon.bench.liveBindings.evaluationSteps
    daemon.set("a", "2")
    for _ in 0..<count / 4 { daemon.settle() }
    for i in 1...count { #expect(daemon.values(of: "cells/t\(i)") == ["1", "2"], "\(i)") }
    // A commit looks at each list at most once.
    #expect(daemon.bench.liveBindings.evaluationSteps - steps < count * count)
  }

  /// Bindings that are made and ended in any order keep the order of evaluation.
  @Test(arguments: 0..<10)
  func `lists have no glitches, in whatever order they were made`(seed: UInt64) throws {
    let daemon = try open()
    var random = SeededRandom(seed: seed)
    let count = 12
    func expression(_ i: Int) -> String {
      let inputs = ["cells/s0"] + (max(0, i - 3)..<i).map { "cells/s\($0 + 1)" }
      return "(\(inputs.joined(separator: ", "))) | max ~> cells/s\(i + 1)"
    }
    for i in (0..<count).shuffled(using: &random) { daemon.bind(expression(i), "b\(i)") }
    for i in (0..<count).shuffled(using: &random).prefix(4) {
      _ = daemon.client.call(#"{"id":1,"method":"unbind","params":["b\#(i)"]}"#)
      daemon.bind(expression(i), "b\(i)")
    }
    for value in 1...3 {
      daemon.set("s0", "\(value)")
      for _ in 0..<count { daemon.settle() }
    }
    for i in 1...count { #expect(daemon.values(of: "cells/s\(i)") == ["1", "2", "3"], "\(i)") }
  }

  @Test
  func `a list whose sources change all the time does not wait for ever`() throws {
    let daemon = try open()
    daemon.bind("cells/a | offset(1) ~> cells/b")
    daemon.bind("(cells/b, cells/c) ~> cells/pair")
    for i in 1...50 {
      daemon.client.send(daemon.line("a", "\(i)"))
      store.commit()
    }
    #expect(daemon.values(of: "cells/pair").count >= 5)
    daemon.settle()
    #expect(daemon.value("pair") == "[51,null]")
  }

  @Test
  func `a source that is not journaled is combined at once`() throws {
    let daemon = try open()
    daemon.set("a", "1")
    daemon.bind(#"(cells/a, system/uptime) ~> cells/x"#)
    #expect(daemon.value("x") == "[1,7]")
  }

  @Test
  func `25: a cycle through a list is refused`() throws {
    let daemon = try open()
    daemon.bind("cells/x ~> cells/b")
    let error = daemon.error("(cells/a, cells/b) | sum ~> cells/x")
    #expect(error?.name == .bindingCycle)
    #expect(
      error?.data["path"]
        == .array([.string("cells/b"), .string("cells/x"), .string("cells/b")]))
    #expect(daemon.error("(cells/a, cells/y) | delay(5s) ~> cells/y")?.name == .bindingCycle)
    daemon.bind("(cells/a, cells/b) | sum ~> cells/y")
    #expect(daemon.error("cells/y ~> cells/x")?.name == .bindingCycle)
    _ = daemon.client.call(#"{"id":1,"method":"unbind","params":["2"]}"#)
    daemon.bind("cells/y ~> cells/x2")
  }

  // MARK: Values

  private static let conversions: [(String, String, String)] = [
    ("above(4)", "4 4.1", "false true"), ("below(4)", "4 3.9", "false true"),
    ("between(1, 3)", "0 1 3 3.5", "false true false"),
    ("equals(4)", "4.0 5", "true false"), ("differs(4)", "4.0 5", "false true"),
    (#"equals("on")"#, #""on" "off""#, "true false"),
    (#"map("on", 21, "off", 16)"#, #""on" "off""#, "21 16"),
    (#"map("on", 21, 5)"#, #""on" 7"#, "21 5"), ("clamp(0, 10)", "-1 5 11", "0 5 10"),
    ("constant(17)", "1", "17"), ("where(above, 4)", "1 5 2 6", "5 6"),
    ("where(between, 2, 3)", "1 2 3 4", "2 3"), ("where(differs, null)", "null 1", "1"),
    ("distinct | count", "5 5 6", "1 2"), ("count", "7 8 9", "1 2 3"),
    ("hysteresis(19.5, 20.5)", "20 20.5 20 19.5 20", "false true false"),
    ("scan(min)", "3 5 1 2", "3 1"), ("scan(max)", "3 5 1 2", "3 5"),
    ("scan(sum)", "0.1 0.2", "0.1 0.3"), ("scan(avg)", "2 4 9", "2 3 5"),
    ("scan(sum, 2)", "1 2 3", "1 3 5"), ("scan(min, 2)", "1 2 3", "1 2"),
  ]

  @Test(arguments: conversions)
  func `operators convert values`(call: String, values: String, results: String) throws {
    let daemon = try open()
    daemon.bind("cells/a | \(call) ~> cells/x")
    for value in values.split(separator: " ") { daemon.set("a", "\(value)") }
    #expect(daemon.values(of: "cells/x").joined(separator: " ") == results)
  }

  @Test
  func `a value that an operator does not take is reported, and the binding stays`() throws {
    let daemon = try open()
    daemon.bind("cells/a | hysteresis(1, 2) ~> cells/x", "k")
    daemon.set("a", #""warm""#)
    #expect(daemon.list.contains("'hysteresis' takes a number, not \\\"warm\\\""))
    daemon.set("a", "3")
    #expect(daemon.value("x") == "true")
    #expect(!daemon.list.contains("failure"))
    daemon.bind(#"cells/b | count | map(1, "one") ~> cells/y"#, isKept: false)
    daemon.client.send(daemon.line("b", "1"), daemon.line("b", "2"))
    #expect(daemon.client.settle().contains { $0.contains(#""method":"fail""#) })
    #expect(daemon.value("y") == #""one""#)
  }

  // MARK: Time

  @Test
  func `an alarm goes off after the load was high for a time`() throws {
    let daemon = try open()
    daemon.bind(
      #"cells/load | pick("/one") | sample(5s) | above(4) | debounce(60s) ~> cells/alarm"#)
    func load(_ value: Int, seconds: Int) {
      for _ in 0..<seconds {
        daemon.set("load", #"{"one":\#(value)}"#)
        daemon.wait(1)
      }
    }
    load(1, seconds: 80)
    #expect(daemon.value("alarm") == "false")
    load(5, seconds: 50)
    load(1, seconds: 20)
    load(5, seconds: 60)
    #expect(daemon.values(of: "cells/alarm") == ["false"])
    load(5, seconds: 10)
    #expect(daemon.values(of: "cells/alarm") == ["false", "true"])
  }

  @Test
  func `a window of time forgets values, with bounded state`() throws {
    let daemon = try open()
    daemon.bind("cells/a | scan(sum, 5m) ~> cells/sum", "k")
    daemon.bind("cells/a | count(5m) ~> cells/count")
    daemon.bind("cells/a | scan(max, 5m) ~> cells/max")
    for i in 0..<600 {
      daemon.set("a", "\(i % 2 + 1)")
      daemon.wait(1)
    }
    #expect(daemon.value("count").flatMap(Int.init).map { 295...312 ~= $0 } == true)
    let state = try #require(daemon.state("k"))
    #expect(state.utf8.count < 2000)
    daemon.wait(400)
    #expect(daemon.value("sum") == "0")
    #expect(daemon.value("count") == "0")
    #expect(daemon.value("max") == "2", "no value: the last result stays")
    #expect(time.count <= 4, "no timer of an empty window is left")
  }

  @Test
  func `every emits at multiples of an interval`() throws {
    let daemon = try open()
    daemon.bind("every(5m) ~> cells/tick")
    #expect(daemon.value("tick") == nil)
    daemon.wait(15 * 60)
    // The clock begins at 03:04:05.
    #expect(
      daemon.values(of: "cells/tick") == [
        #""2026-01-02T03:05:00.000000Z""#, #""2026-01-02T03:10:00.000000Z""#,
        #""2026-01-02T03:15:00.000000Z""#,
      ])
    _ = daemon.client.call(#"{"id":1,"method":"unbind","params":["1"]}"#)
    daemon.wait(600)
    #expect(daemon.values(of: "cells/tick").count == 3)
  }

  @Test
  func `every emits daily in local time, and its values pass through transformers`() throws {
    let daemon = try open()
    daemon.bench.liveBindings.time = MachineTime(
      now: { [time] in Self.start + Int64(time.milliseconds) * 1000 }, offset: { _ in 3600 })
    daemon.bind(#"every("08:00") ~> cells/morning"#)
    daemon.bind(#"every("22:00") | constant(16) ~> cells/setpoint"#)
    daemon.wait(86_400)
    #expect(daemon.values(of: "cells/morning") == [#""2026-01-02T07:00:00.000000Z""#])
    #expect(daemon.value("setpoint") == "16")
  }

  @Test
  func `every has a time zone of its own, and an unknown one is refused`() throws {
    let daemon = try open()
    let zones = Mutex(["Test/Ahead": Int64(3 * 3600)])
    daemon.bench.liveBindings.time = MachineTime(
      now: { [time] in Self.start + Int64(time.milliseconds) * 1000 },
      zone: { name in zones.withLock { $0[name] }.map { offset in { _ in offset } } })
    daemon.bind(#"every("08:00 Test/Ahead") ~> cells/ahead"#, "ahead")
    daemon.bind(#"every("08:00") ~> cells/here"#)
    daemon.wait(86_400)
    #expect(daemon.values(of: "cells/ahead") == [#""2026-01-02T05:00:00.000000Z""#])
    #expect(daemon.values(of: "cells/here") == [#""2026-01-02T08:00:00.000000Z""#])
    zones.withLock { $0 = [:] }
    daemon.wait(2 * 86_400)
    #expect(
      daemon.values(of: "cells/ahead") == [
        #""2026-01-02T05:00:00.000000Z""#, #""2026-01-03T05:00:00.000000Z""#,
        #""2026-01-04T05:00:00.000000Z""#,
      ], "a zone that is removed goes on as it was")
    let error = daemon.error(#"every("08:00 Test/Other") ~> cells/x"#)
    #expect(
      error?.message
        == "no time zone 'Test/Other' on this machine: a zone is named as in /usr/share/zoneinfo, which is of the package tzdata at column 7"
    )
  }

  @Test
  func `30: a line with an unknown time zone does not run, and says where`() throws {
    let daemon = try open(#"n: every("08:00 Test/Other") ~> cells/x"#)
    #expect(daemon.faults.count == 1)
    #expect(
      daemon.faults.first?.hasPrefix("/d/h.bind:1:10: no time zone 'Test/Other'") == true,
      "\(daemon.faults)")
    #expect(daemon.list.contains("no time zone"))
  }

  @Test
  func `21: every notices that the clock was set`() throws {
    let daemon = try open()
    var shift: Int64 = 0
    daemon.bench.liveBindings.time = MachineTime(now: { [time] in
      Self.start + shift + Int64(time.milliseconds) * 1000
    })
    daemon.bind(#"every("08:00") ~> cells/morning"#)
    daemon.wait(120)
    shift = 5 * 3600 * 1_000_000
    daemon.wait(120)
    #expect(daemon.values(of: "cells/morning") == [#""2026-01-02T08:00:00.000000Z""#])
    shift = 0
    daemon.wait(5 * 3600)
    #expect(daemon.values(of: "cells/morning").count == 1, "the target has this value already")
    daemon.wait(86_400)
    #expect(daemon.values(of: "cells/morning").count == 2)
  }

  @Test
  func `a time at which the daemon was off is made up for once, if the line says so`() throws {
    func run(_ seconds: Int) throws -> [[String]] {
      let daemon = try open()
      daemon.settle()
      daemon.wait(seconds)
      return ["caught", "plain"].map { daemon.values(of: "cells/\($0)") }
    }
    do {
      let daemon = try open()
      daemon.bind(#"every("08:00", catch_up) | count ~> cells/caught"#, "caught")
      daemon.bind(#"every("08:00") | count ~> cells/plain"#, "plain")
    }
    // It is off from 03:04 to 09:04 of the day after: two mornings, of which the last one counts.
    time.advance(30 * 3600 * 1000)
    #expect(try run(60) == [["1"], []])
    #expect(try run(60) == [["1"], []], "it was made up for")
    #expect(try run(24 * 3600) == [["1", "2"], ["1"]])
  }

  @Test
  func
    `a date of a year counts once, also at a start after it, and again if the clock is set back`()
    throws
  {
    do {
      let daemon = try open()
      daemon.bind(#"every("2026-01-03 08:00", catch_up) | count ~> cells/caught"#, "caught")
      daemon.bind(#"every("2026-01-04 08:00") | count ~> cells/n"#, "n")
    }
    time.advance(30 * 3600 * 1000)
    do {
      let daemon = try open()
      daemon.settle()
      daemon.wait(60)
      #expect(daemon.value("caught") == "1")
      daemon.wait(24 * 3600)
      #expect(daemon.value("n") == "1")
      daemon.wait(3 * 86_400)
      #expect(daemon.value("n") == "1")
    }
    let daemon = try Daemon(store, time, "", shift: 0)
    daemon.wait(60)
    // The clock had been wrong by days.
    daemon.shift -= 5 * 86_400 * 1_000_000
    daemon.wait(3 * 86_400)
    #expect(daemon.value("n") == "2")
  }

  @Test
  func `38: a daily time counts once if the clock is set back`() throws {
    let daemon = try open()
    var shift: Int64 = 5 * 3600 * 1_000_000
    daemon.bench.liveBindings.time = MachineTime(now: { [time] in
      Self.start + shift + Int64(time.milliseconds) * 1000
    })
    daemon.bind(#"every("08:05") | count ~> cells/n"#)
    daemon.wait(90)
    #expect(daemon.value("n") == "1")
    for _ in 0..<2 {
      shift -= 120 * 1_000_000
      daemon.wait(30)
    }
    daemon.wait(300)
    #expect(daemon.value("n") == "1")
    shift -= 2 * 3600 * 1_000_000
    daemon.wait(2 * 3600)
    #expect(daemon.value("n") == "1", "nor by hours")
    daemon.wait(86_400)
    #expect(daemon.value("n") == "2")
    // A clock that was wrong by days keeps it from running for a day at most.
    shift -= 48 * 3600 * 1_000_000
    daemon.wait(86_400)
    #expect(daemon.value("n") == "3")
  }

  @Test
  func `38: an interval counts once if the clock is set back, also over a restart`() throws {
    let hour: Int64 = 3600 * 1_000_000
    do {
      let daemon = try Daemon(store, time, "", shift: 2 * hour)
      daemon.bind("every(1h) | count ~> cells/n", "hourly")
      daemon.wait(2 * 3600)
      #expect(daemon.value("n") == "2")
      daemon.shift -= hour
      daemon.wait(3600)
      #expect(daemon.value("n") == "2")
      daemon.wait(3600)
      #expect(daemon.value("n") == "3")
    }
    // The time of the last event is two hours ahead of the clock.
    let daemon = try Daemon(store, time, "", shift: -2 * hour)
    daemon.wait(3600)
    #expect(daemon.value("n") == "3")
    daemon.wait(3600)
    #expect(daemon.value("n") == "3")
    daemon.wait(3600)
    #expect(daemon.value("n") == "4")
  }

  // MARK: The last run

  @Test
  func `a binding shows when it ran last, with what, and which sources never had a value`() throws {
    func entry(_ daemon: Daemon) -> String { daemon.list }
    do {
      let daemon = try open()
      daemon.bind("cells/a | above(4) ~> cells/x", "k")
      daemon.bind("(cells/a, cells/nope) | sum ~> cells/sum", "l")
      #expect(!entry(daemon).contains("ran_at"))
      #expect(entry(daemon).contains(#""no_value":["cells/a"]"#))
      #expect(entry(daemon).contains(#""no_value":["cells/a","cells/nope"]"#))
      daemon.wait(60)
      daemon.set("a", "5")
      daemon.settle()
      daemon.wait(60)
      #expect(entry(daemon).contains(#""value":true,"ran_at":"2026-01-02T03:05:06.000000Z"#))
      #expect(entry(daemon).contains(#""no_value":["cells/nope"]"#))
      #expect(!entry(daemon).contains(#""no_value":["cells/a"]"#))
      daemon.set("b", JSONText(string: String(repeating: "x", count: 300)).text)
      daemon.bind("cells/b ~> cells/long", "m")
      daemon.settle()
      #expect(entry(daemon).contains(#""binding":"m""#))
      #expect(!entry(daemon).contains("xxx"), "a long value is left out")
    }
    time.advance(3_600_000)
    let daemon = try open()
    daemon.settle()
    #expect(
      entry(daemon).contains(#""value":true,"ran_at":"2026-01-02T03:05:06.000000Z"#),
      "after a restart it is read from the journal")
  }

  @Test
  func `the last run of a schedule is known after a restart, if others have changed its target`()
    throws
  {
    do {
      let daemon = try open()
      daemon.bind(#"every("08:00") | constant(7) ~> cells/x"#, "k")
      daemon.bind(#"every("20:00") | constant(8) ~> cells/x"#, "l")
      daemon.wait(6 * 3600)
      for i in 0..<100 { daemon.set("x", "\(i)") }
      daemon.settle()
    }
    let daemon = try open()
    daemon.settle()
    #expect(daemon.list.contains(#""value":7,"ran_at":"2026-01-02T08:00:"#))
    #expect(daemon.list.ranges(of: "ran_at").count == 1, "the other one has not run")
  }

  // MARK: Errors

  private static let faulty: [(String, Int, String?)] = [
    ("cells/a | abov(4) ~> cells/x", 11, "unknown transformer 'abov': did you mean 'above'?"),
    ("cells/a | sample(5min) ~> cells/x", 19, "unknown unit 'min': did you mean 'm'?"),
    ("cells/a | sample(5) ~> cells/x", 18, "expected duration such as 5s, found 5"),
    ("cells/a | sample(1ms) ~> cells/x", 18, "'sample' takes a duration from 100ms to 365d"),
    ("cells/a | scan(mean) ~> cells/x", 16, "expected min or max or sum or avg, found mean"),
    ("cells/a | scan(max, 101) ~> cells/x", 21, "'scan' takes a window of 1 to 100 values"),
    ("cells/a | scan ~> cells/x", 11, "'scan' takes 1 to 2 arguments, not 0"),
    ("cells/a | above(x) ~> cells/x", 17, "expected number, found x"),
    (
      "cells/a | clamp(5, 1) ~> cells/x", 17,
      "'clamp' takes the low number first, then the high one"
    ),
    ("cells/a | where(above, true) ~> cells/x", 24, "'where' takes a number"),
    ("cells/a | map(1) ~> cells/x", 11, "'map' takes at least 2 arguments, not 1"),
    (
      "cells/a | debounce(5s) <> cells/x", 11,
      "'debounce' goes only from left to right: use ~> instead of <>"
    ),
    (
      "cells/a <~ cells/x | count", 22,
      "'count' goes only from left to right: use ~> instead of <~"
    ),
    ("cells/a | !count ~> cells/x", 12, "'count' has no reverse"),
    (
      #"every("8:00") ~> cells/x"#, 7,
      #"'every' takes an interval of whole seconds such as 5m or a time such as "08:00" or "mon-fri 08:00", not "8:00""#
    ),
    ("every(500ms) ~> cells/x", 7, nil), (#"every("24:00") ~> cells/x"#, 7, nil),
    (#"every("08:60") ~> cells/x"#, 7, nil), ("every(max) ~> cells/x", 7, nil),
    ("bindings/k/state ~> cells/x", 1, "the state of a binding cannot be bound"),
  ]

  @Test(arguments: faulty)
  func `30: an error names line and column`(expr: String, column: Int, message: String?) throws {
    let daemon = try open()
    let error = daemon.error(expr)
    #expect(error?.name == .invalidParams || error?.name == .notBindable)
    if let message { #expect(error?.message == "\(message) at column \(column)") }
    var files = BindFiles()
    files.read(Array("\n  n: \(expr)\n".utf8), file: "/d/h.bind")
    let fault = try #require(files.faults.first)
    #expect("\(fault)".hasPrefix("/d/h.bind:2:\(column + 5): \(message ?? "'every'")"))
    #expect(store.last == 0)
  }

  @Test
  func `a list may only read and write what the role may`() throws {
    let text =
      #"{"roles":[{"name":"panel","users":["*"],"read":["cells/a"],"write":["cells/x"]}]}"#
    let nobody = Accounts(user: { _ in nil }, group: { _ in nil })
    let configuration = try Configuration(parsing: Array(text.utf8), file: "f", nobody)
    let role = try #require(
      configuration.roles.entry(for: Peer(uid: 1, groups: []), owner: 500)?.role)
    let daemon = try open()
    let panel = daemon.bench.connect(uid: 7, as: role)
    func name(_ expr: String) -> ErrorName? { panel.error(Daemon.bind(expr, nil, false))?.name }
    #expect(name("(cells/a, cells/b) | sum ~> cells/x") == .notFound)
    #expect(name("every(5s) ~> cells/a") == .permissionDenied)
    #expect(name("every(5s) ~> cells/x") == nil)
  }

  @Test
  func `30: automations count toward the bindings and the state of their user`() throws {
    let daemon = try open()
    let user = daemon.bench.connect(uid: 7)
    let count = BindingsService.maxCount / 2
    daemon.bench.host.owners = [0]
    for i in 0..<count {
      let sent = user.result(Daemon.bind("cells/a | count ~> cells/x\(i)", nil, true))
      try #require(sent != nil, "binding \(i)")
    }
    let error = user.error(Daemon.bind("every(5s) ~> cells/y", nil, true))
    #expect(error?.data["reason"] == .string("too_many"))
    let before = daemon.bench.host.stateBytes(of: 7)
    daemon.set("a", "1")
    #expect(daemon.bench.host.stateBytes(of: 7) > before + 20 * count)
    #expect(daemon.bench.host.stateBytes(of: 0) == 0)
  }

  // MARK: Restart

  private static let seen: [(call: String, before: String, after: String, results: String)] = [
    ("count", "1 2 3", "4", "3 4"), ("scan(sum)", "1 2 3", "4", "6 10"),
    ("scan(max, 1h)", "5 2", "4", "5 5"), ("scan(avg, 2)", "2 4 6", "8", "5 7"),
    ("hysteresis(1, 9)", "9 5", "4", "true true"), ("count | above(2)", "1 2", "3", "false true"),
    ("distinct | count", "1 2 2", "2", "2 2"), ("count(1h)", "1 2", "3", "2 3"),
  ]

  /// The values before a restart, the value after it, and the results before and after.
  @Test(arguments: seen, [true, false])
  func `state survives a restart`(
    row: (call: String, before: String, after: String, results: String), isFiled: Bool
  ) throws {
    let expr = "cells/a | \(row.call) ~> cells/x"
    let file = isFiled ? expr : ""
    var results: [String?] = []
    do {
      let daemon = try open(file)
      if !isFiled { daemon.bind(expr) }
      for value in row.before.split(separator: " ") { daemon.set("a", "\(value)") }
      results.append(daemon.value("x"))
    }
    let last = store.last
    for line in ["", "# a comment moves the line\n"] {
      let daemon = try open(isFiled ? line + file : "")
      #expect(daemon.value("x") == results[0])
      #expect(store.last == last, "a restart writes nothing")
    }
    let daemon = try open(file)
    daemon.set("a", row.after)
    results.append(daemon.value("x"))
    #expect(results.map { $0 ?? "none" }.joined(separator: " ") == row.results)
  }

  @Test
  func `a value that was not processed before a restart counts once`() throws {
    do {
      let daemon = try open()
      daemon.bind("cells/a | count ~> cells/x", "k")
      daemon.set("a", "1")
      #expect(daemon.value("x") == "1")
      // The daemon ends after the write of the source is durable, before that of the target.
      daemon.client.send(daemon.line("a", "2"))
      store.commit()
      store.reject(.readOnly(reason: "end", outcome: .none))
    }
    do {
      let daemon = try open()
      #expect(daemon.value("x") == "2")
    }
    let last = store.last
    let daemon = try open()
    #expect(daemon.value("x") == "2")
    #expect(store.last == last)
  }

  @Test
  func `a value that waits at a restart waits again`() throws {
    for (i, call) in ["debounce(60s)", "count | debounce(60s)", "delay(60s)"].enumerated() {
      do {
        let daemon = try open()
        daemon.bind("cells/a\(i) | \(call) ~> cells/x\(i)")
        daemon.set("a\(i)", "1")
        daemon.wait(30)
        #expect(daemon.value("x\(i)") == nil)
      }
      let daemon = try open()
      daemon.wait(59)
      #expect(daemon.value("x\(i)") == nil)
      daemon.wait(2)
      #expect(daemon.value("x\(i)") == "1", "\(call)")
    }
  }

  @Test
  func `a list is evaluated after a restart if a source has changed`() throws {
    do {
      let daemon = try open()
      daemon.bind("(cells/a, cells/b) | sum ~> cells/x", "k")
      daemon.set("a", "1")
      daemon.set("b", "2")
      daemon.client.send(daemon.line("b", "5"))
      store.commit()
      store.reject(.readOnly(reason: "end", outcome: .none))
    }
    do { #expect(try open().value("x") == "6") }
    let daemon = try open()
    daemon.set("x", "0")
    #expect(try Daemon(store, time, "").value("x") == "0", "the target is newer")
  }

  @Test
  func `a state that the journal refuses is recorded later, and counts once`() throws {
    do {
      let daemon = try open()
      daemon.bind("cells/a | count ~> cells/x", "k")
      daemon.client.send(daemon.line("a", "1"))
      store.commit()
      store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
      #expect(daemon.value("x") == nil)
      daemon.wait(2)
      #expect(daemon.value("x") == "1")
      daemon.set("a", "2")
    }
    let daemon = try open()
    #expect(daemon.value("x") == "2")
  }

  @Test
  func `the end of a binding removes its state`() throws {
    let daemon = try open()
    daemon.bind("cells/a | count ~> cells/x", "k")
    daemon.set("a", "1")
    daemon.set("a", "2")
    #expect(daemon.state("k")?.contains(#""operators":[[["#) == true)
    _ = daemon.client.call(#"{"id":1,"method":"unbind","params":["k"]}"#)
    #expect(daemon.state("k") == nil)
    daemon.bind("cells/a | count ~> cells/x", "k")
    #expect(daemon.value("x") == "1", "a new binding begins again")
  }

  @Test
  func `a line that is taken out of a file loses its state`() throws {
    do {
      let daemon = try open("n: cells/a | count ~> cells/x\n")
      daemon.set("a", "1")
      #expect(daemon.state("n") != nil)
    }
    let daemon = try open()
    #expect(daemon.state("n") == nil)
  }

  @Test
  func `a binding of a connection keeps no state in the journal`() throws {
    let daemon = try open()
    daemon.bind("cells/a | count ~> cells/x", isKept: false)
    let last = store.last
    daemon.set("a", "1")
    #expect(daemon.value("x") == "1")
    #expect(store.last == last + 2)
  }

  // MARK: The recipe of the README

  @Test
  func `the thermostat holds its temperature`() throws {
    let daemon = try open(
      """
      heat:  cells/temperature | hysteresis(19.5, 20.5) | not ~> cells/heater
      night: every("22:00") | constant("night") ~> cells/mode
      frost: cells/temperature | below(5) | debounce(10m) ~> cells/frost_alarm
      """)
    #expect(daemon.faults.isEmpty)
    var heater: [String?] = []
    for temperature in ["19", "20", "20.6", "20", "19.4", "20"] {
      daemon.set("temperature", temperature)
      heater.append(daemon.value("heater"))
    }
    #expect(heater == ["true", "true", "false", "false", "true", "true"])
    daemon.set("temperature", "4")
    daemon.wait(86_400)
    #expect(daemon.value("frost_alarm") == "true")
    #expect(daemon.value("mode") == #""night""#)
  }
}

/// A daemon with bindings.
private final class Daemon {
  let bench: Bench
  let client: TestClient
  private(set) var faults: [String] = []
  private let store: MemoryStore
  private let time: ManualTime

  /// The microseconds that the clock of the machine is ahead of that of the journal.
  var shift: Int64 = 0

  init(
    _ store: MemoryStore, _ time: ManualTime, _ file: String, shift: Int64? = nil
  ) throws {
    (self.store, self.time) = (store, time)
    var made: BindingsService?
    bench = try Bench(store, time: time) { catalog, parts in
      let bindings = BindingsService(in: parts.host)
      bindBindings(catalog, to: bindings, parts.live)
      made = bindings
    }
    client = bench.connect()
    if let shift {
      self.shift = shift
      bench.liveBindings.time = MachineTime(now: { [unowned self] in
        AutomationTests.start + self.shift + Int64(time.milliseconds) * 1000
      })
    }
    guard let made else { return }
    restoreBindings(bench.rights[.owner], made, bench.liveBindings) { [unowned self] in
      faults.append($0)
    }
    var files = BindFiles()
    files.read(Array(file.utf8), file: "/d/h.bind")
    faults += (files.faults + loadBindings(bench.rights[.owner], bench.liveBindings, files).faults)
      .map(\.description)
    settle()
  }

  func settle() { _ = client.settle() }

  func line(_ cell: String, _ value: String) -> String {
    #"{"id":3,"method":"cells.set","params":["\#(cell)",\#(value)]}"#
  }

  func set(_ cell: String, _ value: String) { _ = client.call(line(cell, value)) }

  /// Lets virtual seconds pass.
  func wait(_ seconds: Int) {
    for _ in 0..<min(seconds, 1000) {
      time.advance(UInt64(seconds) * 1000 / UInt64(min(seconds, 1000)))
      store.commit()
      store.commit()
    }
    settle()
  }

  func value(_ cell: String) -> String? { bench.cells.ledger.value(of: "cells/\(cell)")?.text }

  var list: String { client.call(#"{"id":4,"method":"bindings.list"}"#) }

  static func bind(_ expr: String, _ name: String?, _ isKept: Bool) -> String {
    let text = JSONText(string: expr).text
    let named = name.map { #","binding":"\#($0)""# } ?? ""
    let scope = isKept ? #","scope":"daemon""# : ""
    return #"{"id":1,"method":"bind","params":{"expr":\#(text)\#(named)\#(scope)}}"#
  }

  func bind(_ expr: String, _ name: String? = nil, isKept: Bool = true) {
    #expect(client.result(Self.bind(expr, name, isKept)) != nil, "\(expr)")
    settle()
  }

  func error(_ expr: String) -> WireError? { client.error(Self.bind(expr, nil, true)) }

  /// Returns the state of a binding.
  func state(_ name: String) -> String? {
    let answer = client.result(#"{"id":5,"method":"get","params":["bindings/\#(name)/state"]}"#)
    return answer?["value"]?.text.text
  }

  /// Returns all values that a source has had.
  func values(of source: String) -> [String] {
    var values: [String] = []
    store.replay(after: 0) { records in
      for record in records.records where record.stream == source {
        if let value = try? JSONText(parsing: record.data).members?["value"] {
          values.append(value.text)
        }
      }
    }
    return values
  }
}
