import API
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import Signals
import TestSupport
import Testing
import Wire

/// Work that follows from commits is done in the time of its user, a limited number of steps a turn.
///
/// Each look at the clock costs 0.1 ms, and each step of work needs one, so that a turn has about 40
/// steps for a user.
@Suite(.leavesNothing)
struct SliceTests {
  private let bench: Bench

  /// Another user.
  private let other: TestClient
  private static let stepsPerTurn: UInt64 = 40

  init() throws {
    bench = try Bench(services: { parts in
      let host = parts.host
      let (bindings, lists) = (BindingsService(in: host), ListsService(in: host))
      return { catalog in
        bindBindings(catalog, to: bindings, parts.live)
        bindLists(catalog, to: lists)
      }
    })
    other = bench.connect(uid: 1001)
  }

  private func value(_ cell: String) -> String? {
    bench.cells.ledger.value(of: "cells/\(cell)")?.text
  }

  private func ping(_ client: TestClient) -> Bool {
    client.send(#"{"id":"p","method":"ping"}"#)
    return client.received().contains { $0.contains(#""id":"p","result""#) }
  }

  /// Returns an `atomic` that sets a cell to 1, 2 and so on.
  private func sets(_ count: Int, of cell: String = "h") -> String {
    let calls = (1...count).map { #"{"method":"cells.set","params":["\#(cell)",\#($0)]}"# }
    return #"{"id":"a","method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]}}"#
  }

  /// Commits, and runs turns until all work is done; checks each of them.
  private func run() -> (steps: UInt64, turns: UInt64) {
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    let context = bench.table.context
    let (begun, first) = (context.workSteps, context.turn)
    bench.store.commit()
    var isMore = false
    repeat {
      let (done, turn) = (context.workSteps, context.turn)
      isMore = bench.table.flush()
      #expect(ping(other))
      #expect(context.workSteps - done <= Self.stepsPerTurn * (context.turn - turn))
      bench.store.commit()
      // A client may be interrupted whose requests cause work.
    } while (context.hasWork || isMore) && context.turn - first < 10_000
    #expect(!context.hasWork)
    return (context.workSteps - begun, context.turn - first)
  }

  // MARK: Waits

  @Test
  func `each wait looks at the value once a commit, in the time of its user`() {
    var condition = (1...60).map { "\(-$0)" }.joined(separator: ",")
    condition = #""source":"cells/h","op":"in","value":[\#(condition)]"#
    let clients = (0..<4).map { _ in bench.connect() }
    for client in clients {
      for i in 0..<64 { client.send(#"{"id":\#(i),"method":"wait","params":{\#(condition)}}"#) }
      #expect(client.received().isEmpty)
    }
    clients[0].send(sets(100))
    let (steps, turns) = run()
    #expect((256...260).contains(steps), "\(steps)")
    #expect(turns >= 256 / Self.stepsPerTurn)
    // Each of them is still answered.
    clients[0].send(#"{"id":"s","method":"cells.set","params":["h",-7]}"#)
    _ = run()
    for client in clients { #expect(client.connection.lateCount == 0) }
  }

  @Test
  func `a wait sees the value of each commit, also if there was no time for it at once`() {
    let clients = (0..<4).map { _ in bench.connect() }
    for client in clients {
      for i in 0..<64 {
        client.send(#"{"id":\#(i),"method":"wait","params":{"source":"cells/h","value":2}}"#)
      }
    }
    bench.time.nanosecondsPerLook = 100_000
    for n in 1...3 {
      other.send(#"{"id":\#(n),"method":"cells.set","params":["h",\#(n)]}"#)
      bench.store.commit()
    }
    _ = run()
    for client in clients {
      #expect(client.received().filter { $0.contains(#""value":2"#) }.count == 64)
    }
  }

  @Test
  func `a wait that begins while values wait sees only later ones`() {
    let client = bench.connect()
    for i in 0..<60 {
      client.send(#"{"id":\#(i),"method":"wait","params":{"source":"cells/h","value":0}}"#)
    }
    bench.time.nanosecondsPerLook = 1_000_000
    for n in 1...2 {
      other.send(#"{"id":\#(n),"method":"cells.set","params":["h",\#(n)]}"#)
      bench.store.commit()
    }
    client.send(#"{"id":"w","method":"wait","params":{"source":"cells/h","value":1}}"#)
    _ = run()
    #expect(!client.received().contains { $0.contains(#""id":"w""#) })
    other.send(#"{"id":3,"method":"cells.set","params":["h",1]}"#)
    _ = run()
    #expect(client.received().contains { $0.contains(#""id":"w","result""#) })
  }

  // MARK: Bindings

  private func bind(_ client: TestClient, _ expressions: [String]) {
    for expression in expressions {
      let text = JSONText(string: expression).text
      client.send(#"{"id":"b","method":"bind","params":{"expr":\#(text)}}"#)
    }
    #expect(client.settle().allSatisfy { $0.contains(#""result""#) })
  }

  @Test
  func `bindings pass on the newest value after a commit, in the time of their user`() {
    for i in 0..<8 {
      bind(bench.connect(), (0..<64).map { "cells/h ~> cells/o/\(i)/\($0)" })
    }
    bind(other, ["cells/h ~> cells/other"])
    let last = bench.store.last
    other.send(sets(50))
    bench.time.nanosecondsPerLook = 100_000
    bench.store.commit()
    bench.table.flush()
    bench.store.commit()
    #expect(value("other") == "50", "the other user does not wait")
    let (steps, _) = run()
    #expect((400...513).contains(steps), "\(steps)")
    _ = other.settle()
    for i in 0..<8 {
      #expect((0..<64).map { value("o/\(i)/\($0)") ?? "none" } == Array(repeating: "50", count: 64))
    }
    #expect(bench.store.last == last + 50 + 513)
  }

  @Test
  func `an atomic of many calls runs in the turn after the one in which it was read`() {
    let client = bench.connect()
    client.send(sets(256))
    #expect(bench.store.last == 0)
    while bench.table.flush() {}
    #expect(bench.store.last == 256)
    #expect(client.settle().contains { $0.contains(#""events":256"#) })
    client.send(sets(255))
    #expect(bench.store.last == 511)
  }

  @Test(arguments: [false, true])
  func `an atomic that does not run in a later turn leaves nothing behind`(leaves: Bool) {
    let (client, same) = (bench.connect(), bench.connect())
    client.send(sets(256))
    #expect(!same.connection.mayBeginParts)
    if leaves {
      client.connection.end()
    } else {
      bindConnection(client.connection, to: bench.rights[.owner])
    }
    #expect(same.connection.mayBeginParts)
    while bench.table.flush() {}
    #expect(bench.store.last == (leaves ? 0 : 256))
    bench.store.commit()
    bench.table.flush()
  }

  @Test
  func `operators that count get each value, in later turns too`() {
    let client = bench.connect()
    bind(client, (0..<40).map { "cells/h | count ~> cells/n\($0)" })
    bind(client, (0..<20).map { "cells/h | scan(sum) | where(above, 0) ~> cells/s\($0)" })
    other.send(sets(50))
    let (steps, _) = run()
    #expect(steps >= 50 * 60)
    #expect((0..<40).allSatisfy { value("n\($0)") == "50" })
    #expect((0..<20).allSatisfy { value("s\($0)") == "1275" })
  }

  @Test
  func `lists are evaluated in the time of their user, and without glitches`() {
    let clients = (0..<4).map { _ in bench.connect() }
    for (i, client) in clients.enumerated() {
      bind(client, (0..<30).map { "cells/h ~> cells/f/\(i)/\($0)" })
      bind(client, (0..<30).map { "(cells/h, cells/f/\(i)/\($0)) ~> cells/p/\(i)/\($0)" })
    }
    for n in [3, 5] {
      other.send(sets(n))
      let (steps, _) = run()
      #expect(steps >= 120)
    }
    for _ in 0..<20 { _ = run() }
    for i in 0..<4 {
      #expect((0..<30).allSatisfy { value("p/\(i)/\($0)") == "[5,5]" })
    }
    var pairs: Set<String> = []
    bench.store.replay(after: 0) { records in
      for record in records.records where record.stream.hasPrefix("cells/p/") {
        pairs.insert(record.data)
      }
    }
    #expect(pairs.allSatisfy { !$0.contains("[5,3]") && !$0.contains("[3,5]") }, "\(pairs)")
  }

  @Test
  func `lists do not wait for the backlog of another user`() {
    for i in 0..<8 {
      bind(bench.connect(), (0..<64).map { "cells/h ~> cells/o/\(i)/\($0)" })
    }
    bind(other, ["cells/a ~> cells/b", "(cells/a, cells/b) ~> cells/pair"])
    bench.connect(uid: 1002).send(sets(50))
    bench.time.nanosecondsPerLook = 100_000
    bench.store.commit()
    bench.table.flush()
    other.send(#"{"id":1,"method":"cells.set","params":["a",1]}"#)
    for _ in 0..<2 {
      bench.store.commit()
      bench.table.flush()
    }
    bench.store.commit()
    #expect(bench.table.context.hasWork, "the first user has a backlog")
    #expect(value("pair") == "[1,1]")
    _ = run()
  }

  @Test
  func `timers of operators that fire together run in the time of their user`() {
    let clients = (0..<3).map { _ in bench.connect() }
    for (i, client) in clients.enumerated() {
      bind(client, (0..<64).map { "cells/h | delay(1s) ~> cells/d/\(i)/\($0)" })
    }
    other.send(sets(1))
    _ = run()
    let begun = bench.table.context.workSteps
    bench.time.nanosecondsPerLook = 100_000
    bench.time.advance(1_000)
    #expect(bench.table.context.workSteps - begun <= Self.stepsPerTurn)
    _ = run()
    for i in 0..<3 { #expect((0..<64).allSatisfy { value("d/\(i)/\($0)") == "1" }) }
  }

  // MARK: Delivery

  /// Runs turns until all clients have got something, and returns how many got it in each turn.
  private func deliver(to clients: [TestClient]) -> [Int] {
    var (waiting, counts) = (clients.map { ($0, $0.sends) }, [Int]())
    while !waiting.isEmpty, counts.count < 1_000 {
      let count = waiting.count
      bench.table.flush()
      waiting.removeAll { client, sends in client.sends > sends }
      counts.append(count - waiting.count)
    }
    return counts
  }

  @Test
  func `readers with a filter share the turn of their user, and each gets its turn`() {
    let filter = #"{"types":["cells.*"],"where":[{"path":"/value","op":"!=","value":0}]}"#
    let clients = (0..<30).map { _ in bench.connect() }
    for client in clients + [other] {
      for i in 0..<8 {
        client.send(
          #"{"id":\#(i),"method":"subscribe","params":{"source":"events","filter":\#(filter)}}"#)
      }
      #expect(client.settle().allSatisfy { $0.contains(#""result""#) })
    }
    bench.time.nanosecondsPerLook = 200_000
    other.send(sets(1))
    bench.store.commit()
    let sends = other.sends
    let counts = deliver(to: clients)
    #expect(counts.count > 5, "\(counts)")
    #expect(counts.allSatisfy { $0 <= 5 }, "\(counts)")
    #expect(other.sends > sends)
    // Events in each turn do not keep the last clients waiting.
    bench.time.nanosecondsPerLook = 200_000
    var waiting = clients.map { ($0, $0.sends) }
    for _ in 0..<60 {
      other.send(sets(1))
      bench.store.commit()
      bench.table.flush()
      waiting.removeAll { client, sends in client.sends > sends }
    }
    #expect(waiting.isEmpty)
    bench.time.nanosecondsPerLook = 0
    for client in clients + [other] { _ = client.settle() }
  }

  @Test
  func `long values for many clients of a user are sent in several turns`() {
    let clients = (0..<120).map { _ in bench.connect() }
    for client in clients + [other] {
      _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/h"}}"#)
    }
    let text = String(repeating: "x", count: 60_000)
    other.send(#"{"id":1,"method":"cells.set","params":["h","\#(text)"]}"#)
    bench.store.commit()
    let counts = deliver(to: clients)
    #expect(counts.count == 2, "\(counts)")
    #expect(counts.allSatisfy { $0 <= 70 }, "\(counts)")
  }

  // MARK: Values of many sources

  /// Sets cells of several depths to 0.
  private func fill(_ count: Int) {
    let command = Command(method: "test", caller: Peer(uid: 1, pid: 2))
    _ = try? bench.host.perform(command) {
      for i in 0..<count {
        _ = try bench.cells.set(i % 3 == 0 ? "n/\(i)" : "m\(i)", to: JSONText(0))
      }
      return nil
    }
    bench.store.commit()
    bench.table.flush()
  }

  /// Runs turns until a client has an answer; another user's ping is answered in each of them.
  ///
  /// - Parameter between: Called after each turn with its number.
  /// - Returns: The lines of the client, and the number of turns.
  private func answer(
    _ client: TestClient, _ request: String, between: (Int) -> Void = { _ in }
  ) -> (lines: [String], turns: UInt64) {
    bench.time.nanosecondsPerLook = 100_000
    defer { bench.time.nanosecondsPerLook = 0 }
    client.send(request)
    let first = bench.table.context.turn
    for turn in 1...1_000 {
      let begun = bench.time.nanoseconds
      bench.table.flush()
      // A look for each step of the turn, and some for what is around them.
      #expect(bench.time.nanoseconds - begun < 8_000_000)
      #expect(ping(other))
      let lines = client.received()
      guard lines.isEmpty else { return (lines, bench.table.context.turn - first) }
      between(turn)
      bench.store.commit()
    }
    return ([], 0)
  }

  /// Connects a client that takes long lines.
  private func wide() -> TestClient {
    let client = bench.connect()
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1000000}}}"#)
    return client
  }

  private func values(_ line: String?) -> [String: JSONText]? {
    guard let result = line.flatMap({ JSONText(trusted: $0).members?["result"]?.members }) else {
      return nil
    }
    return (result["values"] ?? result["value"])?.members
  }

  private var cells: [String: JSONText] { bench.cells.list(prefix: "") }

  @Test(arguments: [
    (#""get","params":{"source":"cells/**"}"#, "cells/"), (#""cells.list","params":{}"#, ""),
    (#""get","params":{"source":"cells/**","pick":""}"#, "cells/"),
    (#""subscribe","params":{"source":"cells/**"}"#, "cells/"),
    (#""subscribe","params":{"source":"cells/**","mode":"every"}"#, "cells/"),
  ])
  func `the values of many sources are collected in slices, as of one position`(
    request: String, prefix: String
  ) throws {
    fill(9_000)
    let client = wide()
    var expected: [String: JSONText] = [:]
    let (lines, turns) = answer(client, #"{"id":1,"method":\#(request)}"#) { turn in
      // Names before and behind the place of the search change, go and come.
      for (i, name) in ["m1", "m4999", "n/0", "n/4998", "new", "n/new", "a"].enumerated() {
        let value = turn % 3 == i % 3 ? "null" : "\(turn)"
        other.send(
          value == "null"
            ? #"{"id":0,"method":"cells.remove","params":["\#(name)"]}"#
            : #"{"id":0,"method":"cells.set","params":["\#(name)",\#(value)]}"#)
      }
      bench.store.commit()
      _ = other.received()
    }
    #expect(turns > 10)
    let seq = try #require(
      lines.first.flatMap {
        JSONText(trusted: $0).members?["result"]?.members?["seq"]?.number?.int64
      }
        ?? (request.contains("cells.list") ? Int64(bench.host.durable) : nil))
    // The state at the position of the answer.
    let past = try Bench(bench.store.killed(upTo: UInt64(seq)))
    for (name, value) in past.cells.list(prefix: "") { expected[prefix + name] = value }
    var found = try #require(values(lines.first))
    if request.contains("cells.list") {
      // It has no position: that of the last look.
      for name in ["m1", "m4999", "n/0", "n/4998", "new", "n/new", "a"] {
        (found[name], expected[name]) = (nil, nil)
      }
    }
    #expect(found.mapValues(\.text) == expected.mapValues(\.text))
    let names = Array(lines[0].split(separator: #"":"#).dropFirst())
    #expect(names.count > 9_000)
    // Later changes follow.
    guard request.contains("subscribe") else { return }
    var present = found
    for line in lines.dropFirst() + client.settle() {
      let params = JSONText(trusted: line).members?["params"]?.members ?? [:]
      #expect(params["seq"]?.number?.int64 ?? 0 > seq, "\(line)")
      guard let source = params["source"]?.string else { continue }
      present[source] = params["gone"] == nil ? params["value"] : nil
    }
    var now: [String: String] = [:]
    for (name, value) in cells { now["cells/" + name] = value.text }
    #expect(present.mapValues(\.text) == now)
  }

  @Test
  func `one request of a user is done in parts at a time, and each has its turn`() {
    fill(3_000)
    let clients = (0..<5).map { _ in wide() }
    for client in clients.dropFirst() {
      client.send(#"{"id":1,"method":"get","params":{"source":"cells/**"}}"#)
    }
    let small = bench.connect()
    bench.time.nanosecondsPerLook = 100_000
    small.send(#"{"id":1,"method":"get","params":{"source":"cells/few/*"}}"#)
    let (lines, turns) = answer(
      clients[0], #"{"id":1,"method":"get","params":{"source":"cells/**"}}"#)
    #expect(values(lines.first)?.count == 3_000)
    bench.time.nanosecondsPerLook = 0
    for client in clients.dropFirst() + [small] {
      #expect(client.settle().allSatisfy { $0.contains("result") })
    }
    #expect(turns > 5)
  }

  @Test
  func `a collection that is interrupted ends with a timeout or with the connection`() {
    fill(5_000)
    let client = wide()
    bench.time.nanosecondsPerLook = 100_000
    client.send(
      #"{"id":1,"method":"get","params":{"source":"cells/**","_meta":{"timeout_ms":50}}}"#)
    bench.table.flush()
    #expect(!client.connection.mayBeginParts)
    bench.time.advance(100)
    bench.table.flush()
    #expect(client.received().contains { $0.contains("timeout") })
    #expect(client.connection.mayBeginParts)
    client.send(#"{"id":2,"method":"get","params":{"source":"cells/**"}}"#)
    bench.table.flush()
    #expect(!client.connection.mayBeginParts)
    let second = bench.connect()
    client.connection.end()
    bench.table.flush()
    #expect(second.connection.mayBeginParts)
    bench.time.nanosecondsPerLook = 0
  }

  @Test
  func `the methods of many programs are described in slices`() throws {
    let bench = try Bench(services: { parts in
      let programs = Programs(in: parts.host)
      return { bindPrograms($0, to: programs) }
    })
    let (client, other) = (bench.connect(), bench.connect(uid: 1001))
    let hello = #"{"id":0,"method":"hello","params":{"limits":{"line":4000000}}}"#
    _ = client.call(hello)
    let members = (0..<20).map { #""p\#($0)":{"type":"integer"}"# }.joined(separator: ",")
    for service in 0..<6 {
      let methods = (0..<60).map {
        #""m\#($0)":{"doc":"Does \#($0).","params":{"type":"object","properties":{\#(members)}}}"#
      }
      let provided = client.call(
        #"{"id":1,"method":"provide","params":{"service":"s\#(service)","methods":{\#(methods.joined(separator: ","))}}}"#
      )
      #expect(provided.contains("result"), "\(provided.prefix(500))")
    }
    let whole = client.call(#"{"id":2,"method":"rpc.discover"}"#)
    bench.time.nanosecondsPerLook = 100_000
    client.send(#"{"id":2,"method":"rpc.discover"}"#)
    var found: [String] = []
    let first = bench.table.context.turn
    while found.isEmpty, bench.table.context.turn - first < 1_000 {
      let begun = bench.time.nanoseconds
      bench.table.flush()
      #expect(bench.time.nanoseconds - begun < 8_000_000)
      other.send(#"{"id":"p","method":"ping"}"#)
      #expect(other.received().contains { $0.contains(#""id":"p","result""#) })
      found = client.received()
    }
    #expect(bench.table.context.turn - first > 10)
    #expect(found == [whole])
    let result = try #require(JSONText(trusted: whole).members?["result"]?.members)
    #expect(result["methods"]?.elements?.count ?? 0 > 360)
    bench.time.nanosecondsPerLook = 0
  }

  // MARK: Lists

  /// A list that a client requests, and how its rows are made and changed.
  struct RowsOfService: Sendable, CustomTestStringConvertible {
    let method: String
    let add: @Sendable (_ number: Int) -> String
    var change: (@Sendable (_ number: Int) -> String)?
    var remove: (@Sendable (_ number: Int) -> String)?

    var testDescription: String { method }
  }

  static let lists = [
    RowsOfService(
      method: "people.list", add: { #""people.create","params":{"name":"p\#($0)"}"# },
      change: { #""people.rename","params":[\#($0),"new"]"# },
      remove: { #""people.remove","params":[\#($0)]"# }),
    RowsOfService(
      method: "todo.list", add: { #""todo.add","params":["t\#($0)"]"# },
      change: { #""todo.finish","params":[\#($0)]"# },
      remove: { #""todo.remove","params":[\#($0)]"# }),
    RowsOfService(
      method: "threads.list", add: { #""threads.start","params":{"name":"t\#($0)"}"# },
      change: { #""threads.rename","params":{"thread":\#($0),"name":"new"}"# },
      remove: { #""threads.remove","params":{"thread":\#($0)}"# }),
    RowsOfService(
      method: "feeds.list",
      add: { #""feeds.subscribe","params":{"url":"https://a.b/\#($0)","id":"f\#($0)"}"# },
      remove: { #""feeds.unsubscribe","params":["f\#($0)"]"# }),
    RowsOfService(
      method: "chat.unread",
      add: { #""chat.create","params":{"name":"r\#($0)"}"# },
      change: { #""chat.send","params":{"room":\#($0),"text":"new"}"# }),
    RowsOfService(
      method: "bindings.list",
      add: {
        #""bind","params":{"binding":"b\#($0)","scope":"daemon","expr":"cells/a\#($0) ~> cells/b\#($0)"}"#
      }, remove: { #""unbind","params":["b\#($0)"]"# }),
    RowsOfService(
      method: "describe",
      add: { #""provide","params":{"service":"s\#($0)","methods":{"m":{}}}"# }),
  ]

  @Test(arguments: lists)
  func `a list is made in slices, as of one position`(_ list: RowsOfService) throws {
    let whole = try WholeBench()
    let bench = whole.bench
    bench.table.context.owners = [0, 1000]
    bench.host.owners = [0, 1000]
    let client = bench.connect(uid: 1000)
    _ = client.call(#"{"id":0,"method":"hello","params":{"limits":{"line":1000000}}}"#)
    _ = client.call(#"{"id":0,"method":"users.log_in","params":{"name":"jay"}}"#)
    let count = list.method == "chat.unread" ? 45 : list.method == "describe" ? 60 : 400
    for i in 1...count {
      let added = client.call(#"{"id":1,"method":\#(list.add(i))}"#)
      #expect(added.contains("result"), "\(added)")
    }
    let writer = bench.connect(uid: 1001)
    _ = writer.call(#"{"id":0,"method":"users.log_in","params":{"name":"ann"}}"#)
    _ = writer.call(#"{"id":0,"method":"chat.join","params":{"room":2}}"#)
    let request = #"{"id":"l","method":"\#(list.method)"}"#
    let before = client.call(request)
    // Each look costs a slice.
    bench.time.nanosecondsPerLook = 2_500_000
    client.send(request)
    let first = bench.table.context.turn
    var found: [String] = []
    while found.isEmpty, bench.table.context.turn - first < 1_000 { found = client.received() }
    #expect(bench.table.context.turn - first > 2)
    #expect(found == [before])
    // Rows change, go and come while it is made.
    bench.time.nanosecondsPerLook = 0
    bench.table.flush()
    bench.time.nanosecondsPerLook = 2_500_000
    client.send(request)
    bench.time.nanosecondsPerLook = 0
    if let change = list.change { writer.send(#"{"id":2,"method":\#(change(2))}"#) }
    if let remove = list.remove { writer.send(#"{"id":3,"method":\#(remove(3))}"#) }
    writer.send(#"{"id":4,"method":\#(list.add(count + 1))}"#)
    bench.store.commit()
    #expect(writer.settle().allSatisfy { !$0.contains("error") })
    found = client.settle()
    let expected = client.call(request)
    #expect(expected != before)
    if ["bindings.list", "describe"].contains(list.method) {
      // It has the rows that were there all the time; what came or went meanwhile may be among them.
      #expect(found[0].count >= before.count * 9 / 10)
    } else {
      #expect(found == [expected])
    }
  }
}
