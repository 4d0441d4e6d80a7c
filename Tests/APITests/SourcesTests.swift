import BinderTesting
import Connections
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct SourcesTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  private func set(_ name: String, _ value: String) {
    _ = client.call(#"{"method":"cells.set","params":{"name":"\#(name)","value":\#(value)}}"#)
  }

  private func next(_ sub: String, _ rest: String) -> String {
    #"{"jsonrpc":"2.0","method":"next","params":{"sub":\#(sub),"# + rest + "}}"
  }

  // MARK: Get and set

  @Test
  func `a source is read with its position`() {
    set("lamp", "true")
    set("door", "1")
    #expect(
      client.call(#"{"id":1,"method":"get","params":{"source":"cells/lamp"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"cells/lamp","kind":"state","seq":2,"value":true}}"#
    )
    #expect(
      client.call(#"{"id":1,"method":"get","params":{"source":"cells/*"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"cells/*","kind":"state","seq":2,"values":{"cells/door":1,"cells/lamp":true}}}"#
    )
    #expect(
      client.call(#"{"id":1,"method":"get","params":{"source":"system/load"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"source":"system/load","kind":"state","value":{"one":0.5,"five":0.25,"fifteen":0}}}"#
    )
  }

  @Test
  func `an unknown source is named, with a suggestion`() {
    set("lamp", "true")
    let error = client.error(#"{"id":1,"method":"get","params":{"source":"cells/lmap"}}"#)
    #expect(error?.name == .notFound)
    #expect(error?.data["what"] == .string("source"))
    #expect(error?.data["did_you_mean"] == .string("cells/lamp"))
    #expect(
      client.error(#"{"id":1,"method":"get","params":{"source":"a//b"}}"#)?.name == .invalidParams)
  }

  @Test
  func `a source is set if it is writable`() {
    let answer = client.result(
      #"{"id":1,"method":"set","params":{"source":"cells/a/b","value":[1]}}"#)
    #expect(answer?["value"] == .array([.number(JSONNumber(1))]))
    #expect(answer?["version"] == .number(JSONNumber(1)))
    func error(_ source: String) -> WireError? {
      client.error(#"{"id":1,"method":"set","params":{"source":"\#(source)","value":1}}"#)
    }
    #expect(error("system/load")?.data["reason"] == .string("not_writable"))
    #expect(error("nobody/x")?.name == .notFound)
    #expect(error("cells/a b")?.name == .invalidParams)
    #expect(error("cells/a b")?.data["path"] == .string("/source"))
    #expect(error("cells")?.name == .notFound)
  }

  @Test(arguments: [
    #"{"id":1,"method":"get","params":{"source":"cells/**"}}"#,
    #"{"id":1,"method":"subscribe","params":{"source":"cells/**"}}"#,
    #"{"id":1,"method":"subscribe","params":{"source":"cells/**","mode":"every"}}"#,
    #"{"id":1,"method":"cells.list"}"#,
  ])
  func `a result that does not fit into a line is refused without collecting it all`(
    request: String
  )
    throws
  {
    let value = "\"" + String(repeating: "x", count: 20_000) + "\""
    for i in 0..<100 { set("c\(i)", value) }
    let error = try #require(client.error(request))
    #expect(error.name == .resultTooLarge)
    guard case .number(let size)? = error.data["size"], let size = size.int64 else {
      Issue.record("no size")
      return
    }
    #expect((65_536..<120_000).contains(size))
    #expect(client.connection.subscriptions.isEmpty)
  }

  // MARK: Subscribe

  @Test
  func `a subscription sends the current value, then changes with growing positions`() {
    set("lamp", "true")
    #expect(
      client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/lamp","sub":"s"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"sub":"s","source":"cells/lamp","kind":"state","epoch":"7f3a9c52","seq":1,"value":true}}"#
    )
    set("door", "1")
    set("lamp", "false")
    #expect(client.received().isEmpty)
    #expect(
      client.call(#"{"id":2,"method":"unsubscribe","params":{"sub":"s"}}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"sub":"s","was":"active","seq":3}}"#)
  }

  @Test
  func `all subscribers get a change, after the answer of its command`() {
    let watcher = bench.connect()
    _ = watcher.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/lamp","sub":"s"}}"#)
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/lamp","sub":"c"}}"#)
    client.send(#"{"id":2,"method":"cells.toggle","params":["lamp"]}"#)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":true,"seq":1,"version":1}}"#,
        next(#""c""#, #""seq":1,"value":true"#),
      ])
    #expect(watcher.received() == [next(#""s""#, #""seq":1,"value":true"#)])
  }

  @Test
  func `a missing cell can be observed, and an invalid source is refused`() {
    let answer = client.result(#"{"id":1,"method":"subscribe","params":["cells/later"]}"#)
    #expect(answer?["gone"] == .bool(true))
    #expect(answer?["sub"] == .number(JSONNumber(1)))
    func name(_ params: String) -> ErrorName? {
      client.error(#"{"id":1,"method":"subscribe","params":\#(params)}"#)?.name
    }
    #expect(name(#"{"source":"nobody/x"}"#) == .notFound)
    #expect(name(#"{"source":"cells/a b"}"#) == .notFound)
    #expect(name(#"{"source":"nobody/**"}"#) == .notFound)
    #expect(name(#"{"source":"cells/**/x"}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","mode":"some"}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","from":"start"}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","filter":{}}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","sub":"a b"}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","sub":1}"#) == .alreadyExists)
    #expect(name(#"{"source":"cells/x","epoch":"other"}"#) == .epochMismatch)
    #expect(name(#"{"source":"system/load","mode":"every"}"#) == .invalidParams)
    #expect(name(#"{"source":"cells/x","durable":"me"}"#) == .invalidParams)
    #expect(client.connection.subscriptions.count == 1)
  }

  @Test
  func `a pattern shows all matching sources, also added and removed ones`() {
    set("a/1", "1")
    set("b/1", "1")
    #expect(
      client.call(#"{"id":1,"method":"subscribe","params":{"source":"cells/a/*","sub":"p"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"sub":"p","source":"cells/a/*","kind":"state","epoch":"7f3a9c52","seq":2,"values":{"cells/a/1":1}}}"#
    )
    client.send(
      #"{"method":"cells.set","params":["a/2",2]}"#, #"{"method":"cells.set","params":["b/1",2]}"#,
      #"{"method":"cells.remove","params":["a/1"]}"#)
    #expect(
      client.settle() == [
        next(#""p""#, #""seq":3,"source":"cells/a/2","value":2"#),
        next(#""p""#, #""seq":5,"source":"cells/a/1","gone":true"#),
      ])
  }

  @Test
  func `a pattern can match all services`() {
    set("a", "1")
    let answer = client.result(
      #"{"id":1,"method":"subscribe","params":{"source":"**","sub":"p"}}"#)
    guard case .object(let values)? = answer?["values"] else {
      Issue.record("no values")
      return
    }
    #expect(values["cells/a"] != nil && values["system/load"] != nil)
  }

  @Test
  func `mode every sends each change, and resumes from any position`() {
    _ = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"e","mode":"every"}}"#)
    client.send(
      #"{"method":"cells.set","params":["a",1]}"#, #"{"method":"cells.set","params":["a",1]}"#,
      #"{"method":"cells.set","params":["b",1]}"#, #"{"method":"cells.remove","params":["a"]}"#)
    let changes = [#""seq":1,"value":1"#, #""seq":2,"value":1"#, #""seq":4,"gone":true"#]
    #expect(client.settle() == changes.map { next(#""e""#, $0) })

    client.send(
      #"{"id":2,"method":"subscribe","params":{"source":"cells/a","sub":"f","mode":"every","from":"start","epoch":"7f3a9c52"}}"#
    )
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"sub":"f","source":"cells/a","kind":"state","epoch":"7f3a9c52","seq":0,"after":0}}"#
      ] + changes.map { next(#""f""#, $0) } + [
        #"{"jsonrpc":"2.0","method":"caught_up","params":{"sub":"f","seq":4}}"#
      ])
  }

  @Test
  func `a measured source is updated while it has subscribers`() {
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"system/uptime","sub":"u"}}"#)
    bench.time.advance(5_000)
    #expect(client.received().isEmpty, "it has not changed")
  }

  @Test
  func `unsubscribing an unknown subscription succeeds and says so`() {
    _ = client.call(#"{"id":1,"method":"subscribe","params":["cells/a"]}"#)
    func was(_ sub: String) -> JSONValue? {
      client.result(#"{"id":1,"method":"unsubscribe","params":{"sub":\#(sub)}}"#)?["was"]
    }
    #expect(was("1") == .string("active"))
    #expect(was("1") == .string("ended"))
    #expect(was("7") == .string("unknown"))
    #expect(was(#""x""#) == .string("unknown"))
  }

  @Test
  func `the last ended subscriptions are remembered`() {
    func was(_ sub: String) -> JSONValue? {
      client.result(#"{"id":1,"method":"unsubscribe","params":{"sub":"\#(sub)"}}"#)?["was"]
    }
    for i in [0, 1, 2] + Array(1...65) {
      _ = client.call(
        #"{"id":1,"method":"subscribe","params":{"source":"cells/a","sub":"n\#(i)"}}"#)
      #expect(was("n\(i)") == .string("active"))
    }
    #expect(was("n0") == .string("unknown"))
    #expect(was("n1") == .string("unknown"))
    #expect(was("n2") == .string("ended"))
    #expect(was("n65") == .string("ended"))
  }
}
