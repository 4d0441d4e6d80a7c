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
