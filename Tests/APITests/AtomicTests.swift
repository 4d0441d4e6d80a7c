import API
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct AtomicTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench { catalog, parts in
      let host = parts.host
      bindLists(catalog, to: ListsService(in: host))
    }
    client = bench.connect()
  }

  private func atomic(_ calls: String..., meta: String = "") -> String {
    let calls = calls.map { call -> String in
      let parts = call.split(separator: " ", maxSplits: 1)
      return #"{"method":"\#(parts[0])","params":\#(parts[1])}"#
    }
    return
      #"{"id":1,"method":"atomic","params":{"calls":[\#(calls.joined(separator: ","))]\#(meta)}}"#
  }

  @Test
  func `all calls are answered together, and each sees the effects of earlier ones`() {
    client.send(
      atomic(
        #"cells.add {"name":"a","by":2}"#, #"cells.add ["a",3]"#,
        #"set {"source":"cells/b","value":[1]}"#, #"lists.append {"name":"l","value":"x"}"#))
    #expect(client.received().isEmpty, "not durable yet")
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"values":[2,5,[1],0],"seq":4,"events":4}}"#
      ])
    #expect(
      client.call(atomic(#"cells.remove ["nothing"]"#))
        == #"{"jsonrpc":"2.0","id":1,"result":{"values":[false],"events":0}}"#)
  }

  // MARK: Conditions

  /// A call that sells three of `cells/stock` if conditions hold.
  private func sell(_ conditions: String...) -> String {
    let texts = conditions.map { "\"\($0)\"" }.joined(separator: ",")
    return atomic(
      #"cells.add {"name":"stock","by":-3}"#, #"lists.append {"name":"sold","value":3}"#,
      meta: #","if":[\#(texts)]"#)
  }

  /// The reply to a request whose condition does not hold.
  private func failed(_ message: String, _ condition: Int, _ value: String?) -> String {
    let value = value.map { #","value":\#($0)"# } ?? ""
    return
      #"{"jsonrpc":"2.0","id":1,"error":{"code":1000,"message":"\#(message)","data":{"name":"rejected","#
      + #""retry":false,"reason":"condition_failed","condition":\#(condition)\#(value)}}}"#
  }

  @Test
  func `conditions are decided on the newest state, in the commit of the calls`() {
    client.send(atomic(#"cells.set ["stock",4]"#))
    // The first two are not durable yet when the others run.
    client.send(sell("cells/stock >= 3", "cells/closed !exists"))
    client.send(sell("cells/stock >= 3"))
    let lines = client.settle()
    #expect(lines[1] == #"{"jsonrpc":"2.0","id":1,"result":{"values":[1,0],"seq":3,"events":2}}"#)
    #expect(lines[2] == failed("'cells/stock >= 3' does not hold: it is 1", 0, "1"))
    #expect(bench.host.last == 3)
    #expect(
      client.call(sell("cells/stock == 1", "cells/closed == true"))
        == failed("'cells/closed == true' does not hold: it is not set", 1, nil))
    #expect(bench.host.last == 3)
  }

  @Test
  func `a condition sees what its own calls have not done yet`() {
    _ = client.call(atomic(#"cells.set ["a",1]"#))
    let text = atomic(#"cells.set ["a",2]"#, meta: #","if":["cells/a == 1"]"#)
    #expect(
      client.call(text) == #"{"jsonrpc":"2.0","id":1,"result":{"values":[2],"seq":2,"events":1}}"#)
  }

  @Test
  func `a repeat with the same cmd gets the same answer, whatever the value is now`() {
    _ = client.call(atomic(#"cells.set ["a",1]"#))
    let failing = atomic(
      #"cells.set ["b",1]"#, meta: #","if":["cells/a == 2"],"_meta":{"cmd":"x"}"#)
    let answer = failed("'cells/a == 2' does not hold: it is 1", 0, "1")
    #expect(client.call(failing) == answer)
    let done = atomic(#"cells.set ["b",2]"#, meta: #","if":["cells/a == 1"],"_meta":{"cmd":"y"}"#)
    _ = client.call(done)
    _ = client.call(atomic(#"cells.set ["a",2]"#))
    #expect(client.call(failing) == answer)
    #expect(client.call(done).contains(#""replayed":true"#))
  }

  @Test(arguments: [
    ("cells/a", #""path":"/if/0""#), ("cells/a >", #""path":"/if/0""#),
    ("cells/a > [1]", "a number or a string"), ("cells/* == 1", "not_found"),
    ("nothing/a == 1", "not_found"),
    ("lists/l exists", "only whether it is empty: 'lists/l != []'"),
    ("lists/l == [1]", "only whether it is empty"), ("lists/l !exists", "only whether it is empty"),
    ("cells/a in [1]", #""path":"/if/0""#),
  ])
  func `a condition that cannot be is refused, with its place`(text: String, part: String) {
    let answer = client.call(atomic(#"cells.set ["b",1]"#, meta: #","if":["\#(text)"]"#))
    #expect(answer.contains(part), "\(answer)")
    #expect(bench.host.last == 0)
  }

  @Test
  func `the values that conditions look at are limited together`() {
    let long = String(repeating: "x", count: 200_000)
    _ = client.call(atomic(#"cells.set ["a","\#(long)"]"#))
    let conditions = [String](repeating: #""cells/a != 1""#, count: 6)
    let answer = client.call(
      atomic(
        #"cells.set ["b",1]"#, meta: #","if":[\#(conditions.joined(separator: ","))]"#))
    #expect(answer.contains("too_expensive"), "\(answer)")
    let many = [String](repeating: #""cells/b !exists""#, count: 65).joined(separator: ",")
    let refused = client.call(atomic(#"cells.set ["b",1]"#, meta: #","if":[\#(many)]"#))
    #expect(refused.contains("at most 64 conditions"), "\(refused)")
    #expect(bench.host.last == 1)
  }

  @Test
  func `one refused call rolls back all, and the error names its index`() {
    _ = client.call(atomic(#"cells.set ["text","x"]"#, #"lists.append ["l",1]"#))
    client.send(#"{"id":7,"method":"cells.set","params":["before",1]}"#)
    client.send(
      atomic(
        #"cells.set ["a",1]"#, #"lists.append ["l",2]"#, #"cells.remove ["before"]"#,
        #"cells.add ["text"]"#))
    client.send(#"{"id":8,"method":"lists.append","params":["l","after"]}"#)
    let lines = client.settle()
    #expect(lines.count == 3)
    #expect(
      lines[1]
        == #"{"jsonrpc":"2.0","id":1,"error":{"code":1000,"message":"call 3: cell 'text' is not a number","data":{"name":"rejected","retry":false,"reason":"not_a_number","index":3}}}"#
    )
    #expect(lines[2].contains(#""value":1,"seq":4"#), "\(lines[2])")
    #expect(bench.host.last == 4)
    #expect(bench.cells.ledger.value(of: "cells/a") == nil)
    #expect(bench.cells.ledger.value(of: "cells/before")?.text == "1")
    #expect(
      client.result(#"{"id":2,"method":"get","params":["lists/l"]}"#)?["value"]
        == .array([.number(JSONNumber(1)), .string("after")]))
  }

  @Test(
    arguments: [
      (#"cells.set {"name":"a"}"#, .invalidParams, "/calls/1/params/value"),
      (#"cells.set {"name":"a b","value":1}"#, .invalidParams, "/calls/1/params/name"),
      (#"cells.set {"name":"a","value":1,"_meta":{}}"#, .invalidParams, "/calls/1/params/_meta"),
      (#"set {"source":"cells/","value":1}"#, .invalidParams, "/calls/1/params/source"),
      (#"ping {}"#, .invalidParams, "/calls/1/method"),
      (#"atomic {"calls":[]}"#, .invalidParams, "/calls/1/method"),
      (#"subscribe {"source":"cells/a"}"#, .invalidParams, "/calls/1/method"),
      (#"cells.sett {}"#, .methodNotFound, nil),
    ] as [(String, ErrorName, String?)])
  func `a call that is not allowed in atomic is named before any call runs`(
    call: String, name: ErrorName, path: String?
  ) {
    let error = client.error(atomic(#"cells.set ["first",1]"#, call))
    #expect(error?.name == name)
    #expect(error?.data["index"] == .number(JSONNumber(1)))
    #expect(error?.data["path"] == path.map { .string($0) })
    #expect(bench.host.last == 0)
  }

  @Test(
    arguments: [
      #"todo.add {"title":"a","_meta":{"expect":{"todo/1":9}}}"#,
      #"lamp.queue {"_meta":{"cmd":"1"},"level":1}"#,
    ])
  func `a call of the library or of a program takes no options within an atomic`(
    call: String
  ) throws {
    let bench = try WholeBench().bench
    let (provider, client) = (bench.connect(uid: 500), bench.connect())
    _ = provider.call(
      #"{"id":1,"method":"provide","params":{"service":"lamp","methods":{"queue":{"delivery":"queued","#
        + #""params":{"type":"object","properties":{"level":{"type":"integer"}}}}}}}"#)
    let last = bench.host.last
    let error = client.error(atomic(call))
    #expect(error?.data["path"] == .string("/calls/0/params/_meta"), "\(error as Any)")
    #expect(bench.host.last == last)
    #expect(client.result(atomic(#"lamp.queue {"level":1}"#))?["events"] == .number(JSONNumber(1)))
  }

  @Test
  func `cmd and expect apply to the whole atomic`() throws {
    let meta = #","_meta":{"cmd":"tx","expect":{"cells/a":"none","lists/l":0}}"#
    let calls = [#"cells.add ["a"]"#, #"lists.append ["l",1]"#]
    let first = client.result(atomic(calls[0], calls[1], meta: meta))
    let again = try #require(client.result(atomic(calls[0], calls[1], meta: meta)))
    #expect(again["values"] == first?["values"])
    #expect(again["seq"] == .number(JSONNumber(2)))
    #expect(again["events"] == .number(JSONNumber(2)))
    #expect(again["replayed"] == .bool(true))
    #expect(client.error(atomic(calls[0], meta: meta))?.name == .cmdReused)
    let conflict = client.error(atomic(calls[0], meta: #","_meta":{"expect":{"lists/l":7}}"#))
    #expect(conflict?.name == .conflict)
    #expect(conflict?.data["index"] == nil, "it is no call's fault")
    #expect(bench.host.last == 2)

    // Also after a restart: the answers are in the journal.
    let restarted = try Bench(bench.store) { catalog, parts in
      let host = parts.host
      bindLists(catalog, to: ListsService(in: host))
    }
    let replayed = restarted.connect().result(atomic(calls[0], calls[1], meta: meta))
    #expect(replayed == again)
  }

  @Test(arguments: [
    #"lists.remove {"name":"none","at":5}"#, #"cells.toggle ["a"]"#,
    #"set {"source":"lists/l","value":1}"#,
  ])
  func `a repeated refused command is refused with the same message`(
    call: String
  ) throws {
    let meta = #","_meta":{"cmd":"tx"}"#
    let line = atomic(#"cells.set ["a",1]"#, call, meta: meta)
    let first = try #require(client.error(line))
    #expect(first.data["index"] == .number(JSONNumber(1)))
    #expect(first.message.hasPrefix("call 1: "))
    let again = client.error(line)
    #expect(again?.name == first.name)
    #expect(again?.message == first.message)
    #expect(again?.data == first.data)
    #expect(bench.host.last == 0)
  }

  @Test
  func `the long answer of a repeated command is read from the journal`() {
    let value = String(repeating: "x", count: 1000)
    let call = #"cells.set ["a","\#(value)"]"#
    let first = client.result(atomic(call, meta: #","_meta":{"cmd":"tx"}"#))
    let again = client.result(atomic(call, meta: #","_meta":{"cmd":"tx"}"#))
    #expect(again?["values"] == .array([.string(value)]))
    #expect(again?["values"] == first?["values"])
    #expect(again?["events"] == .number(JSONNumber(1)))
  }

  @Test
  func `values that do not fit into a line are neither collected nor stored`() throws {
    let value = String(repeating: "x", count: 40_000)
    let call = #"cells.set ["a","\#(value)"]"#
    let request = atomic(call, call, call, meta: #","_meta":{"cmd":"tx"}"#)
    let first = try #require(client.result(request))
    #expect(first["values"] == nil)
    #expect(first["events"] == .number(JSONNumber(3)))
    var kept: String?
    let reading = bench.store.reading(.prompt) { reader throws(JournalError) in
      try reader.records(after: 2, limit: 1).first?.meta
    }
    .observe { event in
      if case .next(let meta) = event { kept = meta }
    }
    bench.store.read()
    reading.dispose()
    #expect(try #require(kept).utf8.count < 200)
    #expect(client.result(request)?["events"] == .number(JSONNumber(3)))
  }

  @Test
  func `an empty list of calls and too many calls are refused`() {
    let call = #"{"method":"cells.toggle","params":["a"]}"#
    let many = Array(repeating: call, count: 1025).joined(separator: ",")
    let error = client.error(#"{"id":1,"method":"atomic","params":{"calls":[\#(many)]}}"#)
    #expect(error?.name == .batchTooLarge)
    #expect(error?.data == ["limit": .string("atomic"), "max": .number(JSONNumber(1024))])
    #expect(
      client.error(#"{"id":1,"method":"atomic","params":{"calls":[]}}"#)?.name == .invalidParams)
    #expect(bench.host.last == 0)
  }

  @Test
  func `all frames caused by one commit are sent in one write`() {
    let watcher = bench.connect()
    _ = watcher.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/**","sub":"c"}}"#)
    _ = watcher.call(#"{"id":2,"method":"subscribe","params":{"source":"lists/l","sub":"l"}}"#)
    client.send(
      atomic(#"cells.set ["a",1]"#, #"lists.append ["l",1]"#, #"cells.set ["b",2]"#))
    bench.store.commit()
    let sends = watcher.sends
    #expect(watcher.received().count == 3)
    #expect(watcher.sends == sends + 1)
  }

  @Test
  func `calls that take too long together are rolled back`() throws {
    var now: UInt64 = 0
    let bench = try Bench { catalog, _ in
      catalog.clock = {
        now += 1000
        return now
      }
    }
    let client = bench.connect()
    let call = #"{"method":"cells.add","params":["a"]}"#
    func atomic(_ count: Int, _ meta: String = "") -> String {
      let calls = Array(repeating: call, count: count).joined(separator: ",")
      return #"{"id":1,"method":"atomic","params":{"calls":[\#(calls)]\#(meta)}}"#
    }
    #expect(client.result(atomic(5))?["events"] == .number(JSONNumber(5)))
    let error = client.error(atomic(6))
    #expect(error?.name == .timeout)
    #expect(
      error?.data
        == [
          "after_ms": .number(JSONNumber(5000)), "outcome": .string("none"),
          "limit": .string("call_ms"), "max": .number(JSONNumber(5000)),
          "index": .number(JSONNumber(5)),
        ])
    #expect(client.error(atomic(3, #","_meta":{"timeout_ms":2000}"#))?.name == .timeout)
    #expect(bench.host.last == 5)
    #expect(bench.cells.ledger.pendingValue(of: "cells/a")?.text == "5")
  }
}
