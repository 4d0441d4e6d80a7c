import BinderTesting
import Configuration
import Connections
import JSON
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct EventsTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
    for (name, value) in [("a", 1), ("b", 2), ("a", 3)] {
      _ = client.call(#"{"method":"cells.set","params":["\#(name)",\#(value)]}"#)
    }
  }

  private func event(_ seq: Int, _ name: String, _ version: Int, _ data: String) -> String {
    let time = "2026-01-02T03:04:05.00000\(seq)Z"
    return
      #""seq":\#(seq),"event":{"type":"cells.set","stream":"cells/\#(name)","version":\#(version),"#
      + #""time":"\#(time)","data":\#(data)}"#
  }

  private func next(_ sub: String, _ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":"\#(sub)","# + rest + "}}"
  }

  @Test
  func `events are shown from a position on, then live`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e","from":{"after":1},"epoch":"7f3a9c52"}}"#
    )
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"sub":"e","source":"events","kind":"events","epoch":"7f3a9c52","first":1,"last":3,"after":1}}"#,
        next("e", event(2, "b", 1, #"{"value":2}"#)), next("e", event(3, "a", 2, #"{"value":3}"#)),
        #"{"jsonrpc":"2.0","method":"caught_up","params":{"sub":"e","seq":3}}"#,
      ])
    client.send(#"{"method":"cells.set","params":["c",4]}"#)
    #expect(client.settle() == [next("e", event(4, "c", 1, #"{"value":4}"#))])
  }

  @Test
  func `a page after the end of the journal is refused`() {
    #expect(
      client.error(#"{"id":1,"method":"history","params":{"source":"events","after":4}}"#)?.name
        == .seqFuture)
    #expect(
      client.error(#"{"id":1,"method":"history","params":{"source":"events","after":3}}"#) == nil)
  }

  @Test(arguments: [
    (#""now""#, [Int]()), (#""start""#, [1, 2, 3]), (#"{"after":0}"#, [1, 2, 3]),
    (#"{"after":3}"#, []), (#"{"last":2}"#, [2, 3]), (#"{"last":0}"#, []),
    (#"{"last":99}"#, [1, 2, 3]),
    (#"{"time":"2026-01-02T03:04:05.000002Z"}"#, [2, 3]),
    (#"{"time":"2026-01-02T03:04:06Z"}"#, []), (#"{"time":"2020-01-01T00:00Z"}"#, [1, 2, 3]),
  ])
  func `a subscription begins at the requested position`(from: String, seqs: [Int]) throws {
    client.send(#"{"id":1,"method":"subscribe","params":{"source":"events","from":\#(from)}}"#)
    let shown = try client.settle().filter { $0.contains(#""event":"#) }.map { line in
      guard case .object(let frame) = try JSONValue(parsing: line),
        case .object(let params)? = frame["params"], case .number(let seq)? = params["seq"]
      else { return 0 }
      return Int(seq.int64 ?? 0)
    }
    #expect(shown == seqs)
  }

  @Test
  func `an expired position is refused`() {
    func error(_ params: String) -> WireError? {
      client.error(#"{"id":1,"method":"subscribe","params":{"source":"events",\#(params)}}"#)
    }
    #expect(error(#""from":{"after":4}"#)?.name == .seqFuture)
    #expect(error(#""from":{"after":4}"#)?.data["last"] == .number(JSONNumber(3)))
    #expect(error(#""from":{"after":1},"epoch":"x""#)?.name == .epochMismatch)
    #expect(error(#""from":{"after":1},"epoch":"x""#)?.data["epoch"] == .string("7f3a9c52"))
    #expect(error(#""from":{"after":-1}"#)?.name == .invalidParams)
    #expect(error(#""from":{"after":1,"last":1}"#)?.name == .invalidParams)
    #expect(error(#""from":"then""#)?.name == .invalidParams)
    #expect(error(#""from":{"time":"yesterday"}"#)?.name == .invalidParams)
    #expect(client.connection.subscriptions.isEmpty)
  }

  @Test
  func `events are filtered by type and stream`() {
    func seqs(_ filter: String) -> Int {
      client.send(
        #"{"id":1,"method":"subscribe","params":{"source":"events","from":"start","filter":\#(filter)}}"#
      )
      return client.settle().count { $0.contains(#""event":"#) }
    }
    #expect(seqs(#"{"types":["cells.*"]}"#) == 3)
    #expect(seqs(#"{"types":["other.*","cells.removed"]}"#) == 0)
    #expect(seqs(#"{"streams":["cells/a"]}"#) == 2)
    #expect(seqs(#"{"streams":["cells/*"],"types":["cells.set"]}"#) == 3)
    #expect(
      client.error(
        #"{"id":1,"method":"subscribe","params":{"source":"events","filter":{"types":["**.x"]}}}"#)?
        .data["path"] == .string("/filter/types/0"))
    client.send(#"{"method":"cells.set","params":["a",5]}"#)
    #expect(client.settle().count == 3, "one each for the three filters that want it")
  }

  @Test
  func `a reader without matching events gets its position`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"f","filter":{"streams":["cells/z"]}}}"#,
      #"{"id":2,"method":"subscribe","params":{"source":"events","sub":"all"}}"#,
      #"{"id":3,"method":"subscribe","params":{"source":"cells/z","sub":"e","mode":"every"}}"#)
    _ = client.settle()
    let other = bench.connect()
    for i in 0..<1000 {
      other.send(#"{"method":"cells.set","params":["a",\#(i)]}"#)
      if i % 100 == 99 { _ = other.settle() }
    }
    bench.time.advance(10_000)
    let marks = client.settle().filter { $0.contains(#""method":"mark""#) }
    #expect(
      marks
        == ["f", "e"].map {
          #"{"jsonrpc":"2.0","method":"mark","params":{"sub":"\#($0)","seq":1003}}"#
        })
  }

  // MARK: History

  @Test
  func `events are read in pages, forward and backward`() {
    #expect(
      client.call(#"{"id":1,"method":"history","params":{"source":"events","after":1,"limit":1}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"items":[{\#(event(2, "b", 1, #"{"value":2}"#))}],"after":2,"more":true,"first":1,"last":3}}"#
    )
    #expect(
      client.call(
        #"{"id":1,"method":"history","params":{"source":"events","limit":5,"filter":{"streams":["cells/a"]}}}"#
      )
        == #"{"jsonrpc":"2.0","id":1,"result":{"items":[{\#(event(1, "a", 1, #"{"value":1}"#))},{\#(event(3, "a", 2, #"{"value":3}"#))}],"after":3,"more":false,"first":1,"last":3}}"#
    )
  }

  @Test
  func `an empty list and an empty map have a value in every past`() throws {
    let client = try WholeBench().bench.connect()
    _ = client.call(#"{"id":1,"method":"lists.append","params":{"name":"l","value":1}}"#)
    _ = client.call(#"{"id":2,"method":"lists.clear","params":{"name":"l"}}"#)
    for seq in [0, 2] {
      for (source, value) in [("lists/l", "[]"), ("lists/none", "[]"), ("maps/m", "{}")] {
        let past = client.result(
          #"{"id":3,"method":"history","params":{"source":"\#(source)","at":{"seq":\#(seq)}}}"#)
        let now = client.result(#"{"id":4,"method":"get","params":["\#(source)"]}"#)
        #expect(past?["value"] == now?["value"] && past?["value"] != nil, "\(source)")
        #expect(past?["value"]?.text.text == value)
        #expect(past?["gone"] == nil)
      }
    }
  }

  @Test
  func `a value is read as of a position or a time`() {
    #expect(
      client.call(#"{"id":1,"method":"history","params":{"source":"cells/a","at":{"seq":2}}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"cells/a","kind":"state","seq":2,"value":1,"time":"2026-01-02T03:04:05.000002Z"}}"#
    )
    let before = client.result(
      #"{"id":1,"method":"history","params":{"source":"cells/b","at":{"time":"2026-01-02T03:04:05.000001Z"}}}"#
    )
    #expect(before?["gone"] == .bool(true))
    #expect(before?["seq"] == .number(JSONNumber(1)))
    func name(_ params: String) -> ErrorName? {
      client.error(#"{"id":1,"method":"history","params":\#(params)}"#)?.name
    }
    #expect(name(#"{"source":"cells/a","at":{"seq":9}}"#) == .seqFuture)
    #expect(name(#"{"source":"cells/a"}"#) == .invalidParams)
    #expect(
      name(#"{"source":"cells/a","at":{"seq":1,"time":"2026-01-02T03:04Z"}}"#) == .invalidParams)
    #expect(name(#"{"source":"system/load","at":{"seq":1}}"#) == .invalidParams)
    #expect(name(#"{"source":"events","at":{"seq":1}}"#) == .invalidParams)
    #expect(name(#"{"source":"events","after":1,"before":2}"#) == .invalidParams)
    #expect(name(#"{"source":"events","limit":0}"#) == .invalidParams)
    #expect(name(#"{"source":"nobody/x","at":{"seq":1}}"#) == .notFound)
  }

  @Test
  func `a page that does not fit into a line is shortened and marked with more`() {
    let text = String(repeating: "x", count: 20_000)
    for i in 0..<5 { _ = client.call(#"{"method":"cells.set","params":["big\#(i)","\#(text)"]}"#) }
    let page = client.result(#"{"id":1,"method":"history","params":{"source":"events","after":3}}"#)
    guard case .array(let items)? = page?["items"] else {
      Issue.record("no items")
      return
    }
    #expect(items.count == 3)
    #expect(page?["more"] == .bool(true))
    #expect(page?["after"] == .number(JSONNumber(6)))
  }

  @Test
  func `a full line omits the oldest of the last events`() {
    let text = String(repeating: "x", count: 20_000)
    for i in 0..<5 { _ = client.call(#"{"method":"cells.set","params":["big\#(i)","\#(text)"]}"#) }
    func page(_ params: String) -> (seqs: [Int64], isMore: Bool) {
      let page = client.result(
        #"{"id":1,"method":"history","params":{"source":"events"\#(params)}}"#)
      guard case .array(let items)? = page?["items"] else { return ([], false) }
      let seqs = items.compactMap { item -> Int64? in
        guard case .object(let item) = item, case .number(let seq)? = item["seq"] else {
          return nil
        }
        return seq.int64
      }
      return (seqs, page?["more"] == .bool(true))
    }
    #expect(page("") == ([6, 7, 8], true))
    #expect(page(#","before":6"#) == ([1, 2, 3, 4, 5], false))
    #expect(page(#","before":3"#) == ([1, 2], false))
    #expect(page(#","limit":2,"before":3"#) == ([1, 2], false))
    #expect(page(#","limit":1,"before":3"#) == ([2], true))
    #expect(page(#","filter":{"streams":["cells/a"]}"#) == ([1, 3], false))
  }

  @Test
  func `reading the past leaks nothing in the connection`() {
    for _ in 0..<200 {
      _ = client.call(#"{"id":1,"method":"history","params":{"source":"events"}}"#)
      _ = client.call(
        #"{"id":1,"method":"history","params":{"source":"cells/a","at":{"time":"2026-01-02T03:05Z"}}}"#
      )
    }
    #expect(client.connection.attachedCount < 40)
  }

  @Test
  func `subscriptions to events get consecutive numbers like others`() throws {
    let client = try Bench().connect()
    for (i, source) in ["events", "cells/a", "events", "cells/*"].enumerated() {
      let result = client.result(
        #"{"id":1,"method":"subscribe","params":{"source":"\#(source)"}}"#)
      #expect(result?["sub"] == .number(JSONNumber(i + 1)), "\(source)")
    }
    let durable = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"d"}}"#)
    #expect(durable.contains(#""sub":5,"#))
  }

  @Test
  func `a client that stores the reply position in mode every misses nothing`() throws {
    let client = try Bench().connect()
    for i in 1...5 { _ = client.call(#"{"id":1,"method":"cells.set","params":["n",\#(i)]}"#) }
    let request =
      #"{"id":1,"method":"subscribe","params":{"source":"cells/n","mode":"every","sub":"e","from":{"after":2}}}"#
    client.send(request)
    let lines = client.settle()
    #expect(lines.first?.contains(#""seq":2,"after":2}"#) == true)
    #expect(lines.dropFirst().first?.contains(#""sub":"e","seq":3,"value":3"#) == true)
  }

  @Test
  func `events say who has recorded them, if a client asks and may see connections`() throws {
    let history = #"{"id":1,"method":"history","params":{"source":"events","limit":1,"who":true}}"#
    let who = #""data":{"value":3},"who":{"uid":1000,"pid":42,"program":"sh","method":"cells.set"}"#
    #expect(client.call(history).contains(who))
    _ = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","who":true}}"#)
    _ = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"e"}}"#)
    client.send(
      #"{"id":1,"method":"set","params":{"source":"cells/a","value":4,"_meta":{"cmd":"c"}}}"#)
    let lines = client.settle()
    let told = #""cmd":"c","who":{"uid":1000,"pid":42,"program":"sh","method":"set"}"#
    #expect(lines.filter { $0.contains(told) && $0.contains(#""sub":"w""#) }.count == 1)
    #expect(lines.filter { $0.contains(#""cmd":"c"}"#) && $0.contains(#""sub":"e""#) }.count == 1)

    let events = Rules(allow: [Rule(try #require(Pattern("cells/**")))])
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    let other = bench.connect(as: Role(name: "a", methods: all, read: events, write: Rules()))
    for request in [
      history, #"{"id":1,"method":"subscribe","params":{"source":"events","who":true}}"#,
    ] {
      let error = other.error(request)
      #expect(error?.name == .permissionDenied)
      #expect(error?.data["need"] == .string("read daemon/connections"))
    }
    #expect(
      client.error(#"{"id":1,"method":"subscribe","params":{"source":"cells/a","who":true}}"#)?
        .data["path"] == .string("/who"))
  }

  @Test
  func `events of a user are found, by a client that may see who it was`() throws {
    let kim = bench.connect(uid: 7)
    _ = kim.call(#"{"id":1,"method":"cells.set","params":["kim",1]}"#)
    let params = #""source":"events","filter":{"by":7}"#
    let page = client.call(#"{"id":1,"method":"history","params":{\#(params)}}"#)
    #expect(page.contains(#""stream":"cells/kim""#))
    #expect(page.components(#""event":{"#) == 1 && !page.contains(#""who""#))
    _ = client.call(#"{"id":1,"method":"subscribe","params":{\#(params),"sub":"e"}}"#)
    _ = client.call(#"{"id":1,"method":"cells.set","params":["mine",1]}"#)
    _ = kim.call(#"{"id":1,"method":"cells.set","params":["kim",2]}"#)
    let lines = client.settle().filter { $0.contains(#""sub":"e""#) }
    #expect(lines.count == 1 && lines[0].contains("cells/kim"), "\(lines)")

    let events = Rules(allow: [Rule(try #require(Pattern("cells/**")))])
    let all = Rules(allow: [Rule(try #require(Pattern("**")))])
    let other = bench.connect(as: Role(name: "a", methods: all, read: events, write: all))
    for request in [
      #"{"id":1,"method":"history","params":{\#(params)}}"#,
      #"{"id":1,"method":"subscribe","params":{\#(params)}}"#,
      #"{"id":1,"method":"subscribe","params":{\#(params),"durable":"d"}}"#,
    ] {
      #expect(other.error(request)?.data["need"] == .string("read daemon/connections"))
    }
    for by in ["-1", "4294967296", #""kim""#] {
      let request =
        #"{"id":1,"method":"history","params":{"source":"events","filter":{"by":\#(by)}}}"#
      #expect(client.error(request)?.name == .invalidParams, "\(by)")
    }
  }
}

extension String {
  /// The number of times that it contains a text.
  fileprivate func components(_ text: String) -> Int { ranges(of: text).count }
}
