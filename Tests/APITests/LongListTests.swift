import API
import BinderTesting
import Connections
import EventSourcing
import Features
import JSON
import JournalMemory
import TestSupport
import Testing

/// Long lists and maps are written and decoded in slices of their reader's time.
///
/// Each look at the clock costs 0.1 ms, so that a slice has about 20 looks.
@Suite(.leavesNothing)
struct LongListTests {
  private static let count = 5_000
  private let bench: Bench
  private let client: TestClient

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let (bindings, lists) = (BindingsService(in: host), ListsService(in: host))
      let maps = MapsService(in: host)
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindLists(catalog, to: lists)
        bindMaps(catalog, to: maps)
      }
    })
    client = bench.connect()
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":4000000}}}"#)
    fillList(Self.count)
  }

  private func fillList(_ count: Int) {
    let numbers = (0..<count).map(String.init).joined(separator: ",")
    client.send(#"{"id":1,"method":"lists.replace","params":["l",[\#(numbers)]]}"#)
    runAllTurns()
    _ = client.received()
  }

  private func fillMap() {
    for thousand in 0..<(Self.count / 1_000) {
      let calls = (thousand * 1_000..<(thousand + 1) * 1_000).map {
        #"{"method":"maps.put","params":["m","k\#($0)",\#($0)]}"#
      }
      client.send(
        #"{"id":2,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
      // It is read a turn before it runs.
      repeat { runAllTurns() } while client.received().isEmpty
    }
  }

  private func runAllTurns() {
    bench.store.commit()
    while bench.table.flush() { bench.store.commit() }
    // What the last turn has written.
    bench.store.commit()
  }

  /// Sends a request and changes the list and the map before its answer.
  ///
  /// - Returns: The members of the result, and the turns that it took.
  private func result(of request: String) -> (result: [String: JSONText], turns: Int) {
    let other = bench.connect(uid: 1001)
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    client.send(request)
    other.send(#"{"id":1,"method":"lists.append","params":["l",-1]}"#)
    other.send(#"{"id":2,"method":"maps.put","params":["m","k0",-1]}"#)
    var (lines, turns) = ([String](), 0)
    while lines.isEmpty, turns < 2_000 {
      bench.store.commit()
      bench.table.flush()
      lines = client.received()
      turns += 1
    }
    let answer = JSONText(trusted: lines.first ?? "null").members
    return (answer?["result"]?.members ?? [:], turns)
  }

  @Test
  func `a long list is written in slices, as it was at its position`() {
    let position = bench.host.durable
    let (result, turns) = result(of: #"{"id":3,"method":"get","params":{"source":"lists/l"}}"#)
    let elements = result["value"]?.elements ?? []
    #expect(elements.map(\.text) == (0..<Self.count).map(String.init))
    #expect(result["seq"]?.text == "\(position)")
    #expect(turns >= Self.count / 32 / 40, "\(turns)")
  }

  @Test
  func `a long map is written in slices, as it was at its position`() {
    fillMap()
    let position = bench.host.durable
    let (result, turns) = result(of: #"{"id":3,"method":"get","params":{"source":"maps/m"}}"#)
    let members = result["value"]?.members ?? [:]
    #expect(members.count == Self.count && members["k0"]?.text == "0")
    #expect(result["seq"]?.text == "\(position)")
    #expect(turns >= Self.count / 32 / 40, "\(turns)")
  }

  @Test(arguments: ["get", "subscribe"])
  func `long lists and maps of a pattern are written in slices`(method: String) {
    let request = #"{"id":3,"method":"\#(method)","params":{"source":"lists/*"}}"#
    let (result, turns) = result(of: request)
    let elements = result["values"]?.members?["lists/l"]?.elements ?? []
    #expect(Array(elements.map(\.text).prefix(Self.count)) == (0..<Self.count).map(String.init))
    #expect(turns >= Self.count / 32 / 40, "\(turns)")
  }

  @Test
  func `a subscription gets so many elements in parts`() {
    let all = 17_000
    fillList(all)
    client.send(#"{"id":3,"method":"subscribe","params":{"source":"lists/l"}}"#)
    runAllTurns()
    let lines = client.received().map { JSONText(trusted: $0).members ?? [:] }
    #expect(lines.count == 2)
    let first = lines.first?["result"]?.members ?? [:]
    let part = lines.last?["params"]?.members?["part"]?.members ?? [:]
    #expect(first["more"]?.text == "true" && part["last"]?.text == "true")
    let counts = [first["value"], part["value"]].map { $0?.elements?.count ?? 0 }
    #expect(counts[0] < all && counts[0] + counts[1] == all)
  }

  @Test
  func `a change of a long list reaches a subscription to a pattern in slices`() {
    let count = 4 * Self.count
    fillList(count)
    let reader = bench.connect()
    _ = reader.call(#"{"id":0,"method":"hello","params":{"limits":{"line":4000000}}}"#)
    reader.send(#"{"id":3,"method":"subscribe","params":{"source":"lists/*","sub":"s"}}"#)
    runAllTurns()
    _ = reader.received()
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":4,"method":"lists.append","params":["l",-1]}"#)
    var (frames, turns) = ([String](), 0)
    while frames.isEmpty, turns < 1_000 {
      bench.store.commit()
      bench.table.flush()
      frames = reader.received()
      // This one comes while the first is written.
      if turns == 0 { client.send(#"{"id":5,"method":"lists.append","params":["l",-2]}"#) }
      turns += 1
    }
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    frames += reader.received()
    let values = frames.map {
      JSONText(trusted: $0).members?["params"]?.members?["value"]?.elements?.map(\.text) ?? []
    }
    let numbers = (0..<count).map(String.init)
    #expect(values == [numbers + ["-1"], numbers + ["-1", "-2"]])
    #expect(turns >= count / 128 / 4 / 40, "\(turns)")
  }

  @Test
  func `a change of a list that is too long for a client ends its subscription to a pattern`() {
    let reader = bench.connect()
    let memory = reader.connection.userItemBytes
    reader.send(#"{"id":3,"method":"subscribe","params":{"source":"lists/*","sub":"s","after":0}}"#)
    reader.send(#"{"id":3,"method":"unsubscribe","params":{"sub":"s"}}"#)
    runAllTurns()
    #expect(reader.connection.userItemBytes == memory)
    fillList(10)
    reader.send(#"{"id":4,"method":"subscribe","params":{"source":"lists/*","sub":"t"}}"#)
    runAllTurns()
    _ = reader.received()
    fillList(4 * Self.count)
    #expect(reader.received().last?.contains("result_too_large") == true)
    #expect(reader.connection.userItemBytes == memory)
  }

  // MARK: Bindings

  private var sum: Int? { bench.cells.ledger.value(of: "cells/s").flatMap { Int($0.text) } }

  @Test
  func `a binding decodes a long list in steps`() {
    let context = bench.table.context
    var steps = context.workSteps
    client.send(#"{"id":3,"method":"bind","params":{"expr":"lists/l | sum ~> cells/s"}}"#)
    runAllTurns()
    let expected = Self.count * (Self.count - 1) / 2
    #expect(sum == expected)
    #expect(context.workSteps - steps >= Self.count / 512)
    steps = context.workSteps
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":4,"method":"lists.append","params":["l",1]}"#)
    bench.store.commit()
    bench.table.flush()
    // This one comes while the list is decoded.
    client.send(#"{"id":5,"method":"lists.append","params":["l",2]}"#)
    runAllTurns()
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    #expect(sum == expected + 3)
    #expect(context.workSteps - steps >= Self.count / 512)
  }

  @Test
  func `a binding decodes a long map in steps`() {
    fillMap()
    let steps = bench.table.context.workSteps
    client.send(#"{"id":3,"method":"bind","params":{"expr":"maps/m | length ~> cells/s"}}"#)
    runAllTurns()
    #expect(sum == Self.count)
    #expect(bench.table.context.workSteps - steps >= Self.count / 512)
  }

  /// Changes the first element twice, the second time while the list is decoded.
  private func changeTwice() {
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":6,"method":"lists.update","params":["l",0,101]}"#)
    bench.store.commit()
    bench.table.flush()
    client.send(#"{"id":7,"method":"lists.update","params":["l",0,107]}"#)
    runAllTurns()
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
  }

  @Test(arguments: [
    #"lists/l | pick(\"/0\") ~> cells/s"#, #"lists/l | pick(\"/0\") | distinct ~> cells/s"#,
    #"(lists/l | pick(\"/0\"), cells/x) | minus ~> cells/s"#,
  ])
  func `a binding gets the last change of a long list`(expression: String) {
    fillList(4 * Self.count)
    _ = client.call(#"{"id":2,"method":"cells.set","params":["x",0]}"#)
    client.send(#"{"id":3,"method":"bind","params":{"expr":"\#(expression)"}}"#)
    runAllTurns()
    changeTwice()
    #expect(sum == 107)
  }

  @Test(arguments: ["", " | distinct"])
  func `a view gets the last change of a long list`(operators: String) {
    fillList(4 * Self.count)
    let line = #"lists/l | pick(\"/0\")\#(operators) ~> s"#
    client.send(#"{"id":3,"method":"open","params":{"text":"view \"First.\"\n\#(line)"}}"#)
    runAllTurns()
    _ = client.received()
    changeTwice()
    let frames = client.received().filter { $0.contains(#""method":"next""#) }
    #expect(frames.last?.contains(#""value":107"#) == true, "\(frames)")
  }

  // The steps that decode a list, add it up and free it.
  private static let stepsOfSum = count / 512 + count / 256 + count / 128

  /// Runs turns with a slow clock until the value of `cells/s` is there.
  ///
  /// - Returns: The turns that it took.
  private func turnsUntilSum() -> Int {
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    var turns = 0
    while sum == nil, turns < 1_000 {
      bench.store.commit()
      bench.table.flush()
      turns += 1
    }
    return turns
  }

  @Test
  func `a binding adds a long list up in steps`() {
    let steps = bench.table.context.workSteps
    client.send(#"{"id":3,"method":"bind","params":{"expr":"lists/l | sum ~> cells/s"}}"#)
    // A slice has about 20 steps.
    #expect(turnsUntilSum() >= 2)
    runAllTurns()
    #expect(sum == Self.count * (Self.count - 1) / 2)
    #expect(bench.table.context.workSteps - steps >= Self.stepsOfSum)
  }

  @Test
  func `a list of sources reads a long one in steps`() {
    let count = 4 * Self.count
    fillList(count)
    _ = client.call(#"{"id":2,"method":"cells.set","params":["x",1]}"#)
    let expression = "(lists/l | sum, cells/x) | minus ~> cells/s"
    client.send(#"{"id":3,"method":"bind","params":{"expr":"\#(expression)"}}"#)
    #expect(turnsUntilSum() >= (count / 512 + count / 256) / 20)
    let expected = count * (count - 1) / 2 - 1
    #expect(sum == expected)
    client.send(#"{"id":4,"method":"lists.append","params":["l",7]}"#)
    runAllTurns()
    #expect(sum == expected + 7)
  }

  @Test(
    arguments: ["lists/l | sum ~> cells/s", "(lists/l | sum, cells/x) | minus ~> cells/s"])
  func `a call waits for what follows from a long list`(expression: String) {
    _ = client.call(#"{"id":2,"method":"cells.set","params":["x",0]}"#)
    client.send(#"{"id":3,"method":"bind","params":{"expr":"\#(expression)"}}"#)
    runAllTurns()
    _ = client.received()
    bench.time.nanosecondsPerLook = 100_000
    client.send(
      #"{"id":4,"method":"lists.append","params":{"name":"l","value":1,"_meta":{"settle":true}}}"#)
    let other = bench.connect(uid: 1001)
    var lines: [String] = []
    for i in 0..<1_000 where lines.isEmpty {
      // Each commit looks whether all has followed.
      other.send(#"{"id":\#(i),"method":"cells.set","params":["z",\#(i)]}"#)
      bench.store.commit()
      bench.table.flush()
      lines = client.received()
    }
    bench.time.nanosecondsPerLook = 0
    #expect(lines.first?.contains(#""source":"cells/s""#) == true, "\(lines)")
    #expect(lines.first?.contains(#""settled":true"#) == true, "\(lines)")
  }

  private static let array = "[" + (0..<count).map(String.init).joined(separator: ",") + "]"

  /// The cell has its value before the binding, and changes twice while that is decoded.
  @Test(
    arguments: [
      ("", "sum"), (#"{"a":"#, #"pick(\"/a\") | sum"#), ("", "sum | distinct"),
    ])
  func `a binding adds a long array of a cell up in steps`(begin: String, transformers: String) {
    func set(_ first: Int) {
      let array = Self.array.replacing("[0,", with: "[\(first),")
      let text = begin + array + (begin.isEmpty ? "" : "}")
      client.send(#"{"id":2,"method":"cells.set","params":["c",\#(text)]}"#)
    }
    set(0)
    runAllTurns()
    let steps = bench.table.context.workSteps
    let expression = "cells/c | \(transformers) ~> cells/s"
    client.send(#"{"id":3,"method":"bind","params":{"expr":"\#(expression)"}}"#)
    bench.store.commit()
    #expect(turnsUntilSum() >= 1)
    let expected = Self.count * (Self.count - 1) / 2
    #expect(sum == expected)
    let decoded = begin.isEmpty ? Self.count / 512 : 0
    #expect(bench.table.context.workSteps - steps >= decoded + Self.count / 256)
    bench.time.nanosecondsPerLook = 100_000
    set(5)
    bench.store.commit()
    bench.table.flush()
    set(7)
    runAllTurns()
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    #expect(sum == expected + 7)
  }

  @Test
  func `readers of each change of a long array get each, and others the newest`() {
    let each = #"cells/c | pick(\"/0\") | scan(sum) ~> cells/s"#
    for (i, expression) in [each, "cells/c | max ~> cells/m"].enumerated() {
      let answer = client.call(
        #"{"id":\#(i),"method":"bind","params":{"expr":"\#(expression)"}}"#)
      #expect(answer.contains("result"), "\(answer)")
    }
    bench.time.nanosecondsPerLook = 100_000
    for first in [1, 20, 300, 100_000] {
      let text = Self.array.replacing("[0,", with: "[\(first),")
      client.send(#"{"id":2,"method":"cells.set","params":["c",\#(text)]}"#)
      bench.store.commit()
    }
    client.send(#"{"id":2,"method":"cells.set","params":["c",[4000]]}"#)
    runAllTurns()
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    #expect(sum == 104_321)
    #expect(bench.cells.ledger.value(of: "cells/m")?.text == "4000")
  }

  /// The value of a cell before two changes, and each of them, once and in order.
  @Test
  func `the present value of a long array comes before its changes`() {
    func set(_ first: Int) -> String {
      let array = Self.array.replacing("[0,", with: "[\(first),")
      return #"{"id":2,"method":"cells.set","params":["c",\#(array)]}"#
    }
    client.send(set(1))
    runAllTurns()
    bench.time.nanosecondsPerLook = 100_000
    let text = #"cells/c | pick(\"/0\") | scan(sum) ~> s"#
    client.send(
      #"{"id":1,"method":"bind","params":{"expr":"cells/c | pick(\"/0\") | scan(sum) ~> cells/s"}}"#,
      #"{"id":3,"method":"open","params":{"text":"view \"V.\"\n\#(text)"}}"#, set(20), set(300))
    runAllTurns()
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    #expect(sum == 321)
    let shown = client.received().filter { $0.contains(#""s":{"value""#) }
    #expect(shown.last?.contains(#""s":{"value":321}"#) == true, "\(shown)")
  }

  /// A binding that assigns nothing at once does not assign a long value later either.
  @Test(arguments: ["lists/l", "cells/c"], ["!~>", "<~!", "<!>"])
  func `a long value is not assigned when nothing is to be assigned`(source: String, sign: String) {
    client.send(#"{"id":1,"method":"cells.set","params":["c",\#(Self.array)]}"#)
    _ = client.call(#"{"id":2,"method":"cells.set","params":["b","old"]}"#)
    let isList = source == "lists/l"
    let (left, right) = sign == "!~>" ? (source, "cells/b") : ("cells/b", source)
    let answer = client.call(
      #"{"id":3,"method":"bind","params":{"expr":"\#(left) \#(sign) \#(right)"}}"#)
    #expect(answer.contains("result") || isList, "\(answer)")
    runAllTurns()
    #expect(bench.cells.ledger.value(of: "cells/b")?.text == "\"old\"")
    guard !isList else { return }
    // Later changes pass.
    client.send(#"{"id":4,"method":"cells.set","params":["c",5]}"#)
    runAllTurns()
    #expect(bench.cells.ledger.value(of: "cells/b")?.text == "5")
  }

  @Test
  func `of two long values, the one on the left is assigned`() {
    let other = Self.array.replacing("[0,", with: "[7,")
    client.send(
      #"{"id":1,"method":"cells.set","params":["c",\#(Self.array)]}"#,
      #"{"id":2,"method":"cells.set","params":["d",\#(other)]}"#)
    runAllTurns()
    client.send(#"{"id":3,"method":"bind","params":{"expr":"cells/c <> cells/d"}}"#)
    runAllTurns()
    for name in ["c", "d"] {
      #expect(bench.cells.ledger.value(of: "cells/\(name)")?.text == Self.array)
    }
  }

  @Test
  func `a long text is assigned with the answer to bind`() {
    let text = String(repeating: "x", count: 20_000)
    _ = client.call(#"{"id":1,"method":"cells.set","params":["t","\#(text)"]}"#)
    let answer = client.call(#"{"id":2,"method":"bind","params":{"expr":"cells/t ~> cells/u"}}"#)
    #expect(answer.contains(#""assigned""#), "\(answer.prefix(300))")
  }

  @Test
  func `a view adds a long array of a cell up in steps`() {
    client.send(#"{"id":2,"method":"cells.set","params":["c",\#(Self.array)]}"#)
    runAllTurns()
    let steps = bench.table.context.workSteps
    client.send(
      #"{"id":3,"method":"open","params":{"text":"view \"Sum.\"\ncells/c | sum ~> s"}}"#)
    runAllTurns()
    let frames = client.received()
    #expect(frames.last?.contains("\(Self.count * (Self.count - 1) / 2)") == true, "\(frames)")
    #expect(bench.table.context.workSteps - steps >= Self.count / 512 + Self.count / 256)
  }

  @Test
  func `a binding that ends while a long list is added up leaves nothing`() {
    fillList(4 * Self.count)
    let other = bench.connect()
    other.send(#"{"id":3,"method":"bind","params":{"expr":"lists/l | sum ~> cells/s"}}"#)
    client.send(#"{"id":3,"method":"bind","params":{"expr":"lists/l | max ~> cells/m"}}"#)
    bench.time.nanosecondsPerLook = 100_000
    for _ in 0..<2 {
      bench.store.commit()
      bench.table.flush()
    }
    bench.time.nanosecondsPerLook = 0
    #expect(sum == nil)
    other.connection.end()
    runAllTurns()
    #expect(sum == nil)
    #expect(bench.cells.ledger.value(of: "cells/m")?.text == "\(4 * Self.count - 1)")
  }

  /// Each fold, a long list, and the result.
  @Test(
    arguments: [
      ("sum", "0.5", "1000"), ("avg", "3,null", "3"), ("min", "7,-2.5", "-2.5"),
      ("max", "7,12e1", "12e1"), ("minus", "1", "-1998"), ("times", "1,-1", "1"),
      ("times", "1,null", "null"), ("divided", "1,-1", "1"), ("divided", "1,0", "null"),
      ("same", "4", "true"), ("same", "4,5", "false"), ("all", "true,null", "false"),
      ("all", "true", "true"), ("any", "false", "false"), ("any", "false,true", "true"),
    ])
  func `a fold in steps has the result of one at once`(
    name: String, elements: String, expected: String
  ) {
    for count in [4, 2_000] {
      let repeated = Array(repeating: elements, count: count).joined(separator: ",")
      let list = repeated.split(separator: ",").prefix(count).joined(separator: ",")
      client.send(#"{"id":2,"method":"lists.replace","params":["f",[\#(list)]]}"#)
      runAllTurns()
      let expression = "lists/f | \(name) ~> cells/s\(count)"
      client.send(#"{"id":3,"method":"bind","params":{"expr":"\#(expression)"}}"#)
      runAllTurns()
    }
    #expect(bench.cells.ledger.value(of: "cells/s2000")?.text == expected)
    let short = bench.cells.ledger.value(of: "cells/s4")?.text
    // The first binding follows the list.
    #expect(short == expected)
  }

  @Test(arguments: [
    (#"[1,0,"x"]"#, nil), (#"["x",null]"#, "null"), ("[1e308,1e-10,0]", "null"),
    ("[1e308,1e-10]", nil), ("[8,2,2]", "2"),
  ])
  func `a list is divided only if all are numbers`(list: String, expected: String?) {
    client.send(#"{"id":2,"method":"cells.set","params":["list",\#(list)]}"#)
    client.send(#"{"id":3,"method":"bind","params":{"expr":"cells/list | divided ~> cells/s"}}"#)
    runAllTurns()
    #expect(bench.cells.ledger.value(of: "cells/s")?.text == expected)
  }

  @Test
  func `a fault in a long list is that of a short one`() throws {
    let list = (0..<2_000).map { $0 == 1_500 ? #""x""# : "\($0)" }.joined(separator: ",")
    client.send(#"{"id":2,"method":"lists.replace","params":["f",[\#(list)]]}"#)
    client.send(#"{"id":3,"method":"bind","params":{"expr":"lists/f | sum ~> cells/s"}}"#)
    runAllTurns()
    let all = client.call(#"{"id":4,"method":"bindings.list"}"#)
    #expect(all.contains("'sum' takes a number, not \\\"x\\\""), "\(all)")
    #expect(sum == nil)
  }

  // MARK: Views

  @Test
  func `a view finds the keys of a long map in steps`() {
    fillMap()
    let steps = bench.table.context.workSteps
    client.send(#"{"id":3,"method":"open","params":{"text":"view \"All.\"\nmaps/m ~> rows"}}"#)
    runAllTurns()
    // The first 1,000 keys at once, then the others; each row is made in a step, and each search for
    // 256 keys is one.
    #expect(
      bench.table.context.workSteps - steps >= Self.count - 1_000 + (Self.count - 1_000) / 256)
    #expect(client.received().contains { $0.contains(#""k4999""#) })
  }

  @Test(arguments: ["lists/l | sum ~> s", "lists/l | sum | distinct ~> s"])
  func `a view shows the sum of a long list when it is there`(line: String) {
    let steps = bench.table.context.workSteps
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":3,"method":"open","params":{"text":"view \"Sum.\"\n\#(line)"}}"#)
    var frames: [String] = []
    for _ in 0..<100 {
      bench.store.commit()
      bench.table.flush()
      frames += client.received()
    }
    bench.time.nanosecondsPerLook = 0
    runAllTurns()
    let expected = #""value":\#(Self.count * (Self.count - 1) / 2)"#
    #expect(frames.count >= 2 && !frames[0].contains(expected), "\(frames)")
    #expect(frames.last?.contains(expected) == true, "\(frames)")
    #expect(bench.table.context.workSteps - steps >= Self.stepsOfSum)
    // A client knows that the first value follows, and when all is there.
    #expect(frames[0].contains(#""more":true"#), "\(frames)")
    #expect(frames.last?.contains(#""more""#) == false, "\(frames)")
  }

  @Test
  func `the tables of a client that ends are freed in steps`() {
    let cells = (0..<3).map { "cells/\($0)/* ~> rows\($0)" }.joined(separator: "\\n")
    let calls = (0..<600).map { #"{"method":"cells.set","params":["\#($0 % 3)/\#($0)",1]}"# }
    client.send(
      #"{"id":3,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#)
    runAllTurns()
    client.send(#"{"id":4,"method":"open","params":{"text":"view \"All.\"\n\#(cells)"}}"#)
    runAllTurns()
    #expect(client.received().last?.contains("rows2") == true)
    let steps = bench.table.context.workSteps
    client.connection.end()
    runAllTurns()
    // The 200 texts of a list in two steps, and all else of its table in one.
    #expect(bench.table.context.workSteps - steps == 9)
  }
}
