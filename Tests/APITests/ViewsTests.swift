import BinderTesting
import Configuration
import Connections
import Features
import JSON
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct ViewsTests {
  private func open(_ client: TestClient, _ cell: String = "lamp") -> String {
    client.call(
      #"{"id":1,"method":"open","params":{"binder":"cell","view":"v1","args":{"name":"\#(cell)"}}}"#
    )
  }

  private func intent(_ id: Int, _ name: String, _ rest: String = "") -> String {
    #"{"id":\#(id),"method":"intent","params":{"view":"v1","name":"\#(name)"\#(rest)}}"#
  }

  @Test
  func `a view shows current values, and changes of its intents after their answers`() throws {
    let client = try Bench().connect()
    #expect(
      open(client)
        == #"{"jsonrpc":"2.0","id":1,"result":{"view":"v1","binder":"cell","seq":0,"props":"#
        + #"{"name":{"kind":"state","value":"lamp"},"value":{"kind":"state","value":null}},"intents":"#
        + #"{"set":{"params":{"value":"any"},"main":true},"toggle":{"params":{}},"#
        + #""add":{"params":{"by":"number"}},"remove":{"params":{},"destructive":true}}}}"#)
    client.send(intent(2, "toggle"))
    #expect(client.received() == [], "nothing is durable yet")
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":2,"result":{"value":true,"seq":1,"version":1}}"#,
        #"{"jsonrpc":"2.0","method":"next","params":{"view":"v1","seq":1,"#
          + #""props":{"value":{"value":true}}}}"#,
      ])
  }

  @Test
  func `each invalid use of a view has its error`() throws {
    let client = try Bench().connect()
    #expect(
      client.error(#"{"id":1,"method":"open","params":{"binder":"cel"}}"#)?.data["did_you_mean"]
        == .string("cell"))
    let missing = client.error(#"{"id":1,"method":"open","params":{"binder":"cell"}}"#)
    #expect(missing?.name == .invalidParams)
    #expect(missing?.data["path"] == .string("/args/name"))
    let bad = client.error(
      #"{"id":1,"method":"open","params":{"binder":"cell","args":{"name":"a b"}}}"#)
    #expect(bad?.name == .invalidParams)
    #expect(client.connection.views.all.isEmpty)

    _ = open(client)
    #expect(
      client.error(#"{"id":1,"method":"open","params":{"binder":"system","view":"v1"}}"#)?.name
        == .alreadyExists)
    #expect(client.error(intent(2, "togle"))?.data["did_you_mean"] == .string("toggle"))
    let argument = client.error(intent(2, "add", #","args":{"by":"x"}"#))
    #expect(argument?.name == .invalidParams)
    #expect(argument?.data["path"] == .string("/args/by"))
    _ = client.call(intent(3, "set", #","args":{"value":"on"}"#))
    #expect(client.error(intent(4, "toggle"))?.data["reason"] == .string("not_a_boolean"))
    #expect(
      client.call(#"{"id":5,"method":"close","params":{"view":"v1"}}"#).contains(
        #""closed":["v1"]"#))
    #expect(client.error(intent(6, "toggle"))?.name == .notFound)
    #expect(
      client.call(#"{"id":7,"method":"close","params":{"view":"v1"}}"#).contains(#""closed":[]"#))
  }

  @Test(arguments: [3, 400])
  func `a repeated intent gets its first answer, even if its view has closed`(
    length: Int
  ) throws {
    let client = try Bench().connect()
    _ = open(client)
    let text = String(repeating: "x", count: length)
    let rest = #","args":{"value":"\#(text)"},"_meta":{"cmd":"c"}"#
    client.send(intent(2, "set", rest))
    #expect(client.settle().first?.hasSuffix(#","seq":1,"version":1}}"#) == true)
    _ = client.call(#"{"id":3,"method":"close","params":["v1"]}"#)
    for view in ["v1", "v2"] {
      let again = client.result(
        intent(4, "set", rest).replacing(#""view":"v1""#, with: #""view":"\#(view)""#))
      #expect(again?["value"] == .string(text))
      #expect(again?["replayed"] == .bool(true))
      #expect(again?["seq"] == .number(JSONNumber(1)))
    }
    #expect(client.error(intent(5, "set", rest.replacing("xx", with: "y")))?.name == .cmdReused)
  }

  @Test
  func `an intent with a cmd runs once`() throws {
    let client = try Bench().connect()
    _ = open(client)
    let line = intent(2, "add", #","args":{"by":1},"_meta":{"cmd":"c-1"}"#)
    #expect(client.call(line).contains(#""value":1,"seq":1,"version":1}"#))
    #expect(client.call(line).contains(#""replayed":true"#))
  }

  @Test
  func `a view updates measured values only while it is open`() throws {
    let bench = try Bench()
    let client = bench.connect()
    #expect(
      client.call(#"{"id":1,"method":"open","params":{"binder":"system","view":"v1"}}"#).contains(
        #""load":{"kind":"state","value":{"one":0.5,"five":0.25,"fifteen":0}}"#))
    #expect(bench.time.count > 0)
    _ = client.call(#"{"id":2,"method":"close","params":{"view":"v1"}}"#)
    #expect(bench.time.count == 0)
  }

  @Test
  func `describe lists a view only to those who may read some of what it shows`() throws {
    let bench = try Bench()
    func hasView(_ patterns: [String]) -> Bool {
      let read = Rules(allow: patterns.compactMap { Pattern($0).map { Rule($0) } })
      let client = bench.connect(
        as: Role(name: "r", methods: Rules(), read: read, write: Rules()))
      let open = #"{"id":2,"method":"open","params":{"binder":"cell","args":{"name":"a/b"}}}"#
      let isListed = client.call(#"{"id":1,"method":"describe"}"#).contains(#"{"name":"cell""#)
      #expect(isListed || client.error(open)?.data["what"] == .string("view"), "\(patterns)")
      return isListed
    }
    #expect(hasView(["**"]) && hasView(["cells/**"]) && hasView(["cells/a/*"]))
    #expect(!hasView([]) && !hasView(["lists/**"]))
  }

  @Test
  func `describe lists the views`() throws {
    let client = try Bench().connect()
    #expect(
      client.call(#"{"id":1,"method":"describe"}"#).contains(
        #""views":[{"name":"cell","service":"cells","doc":"One cell, to view and change.","args":"#
          + #"[{"name":"name","type":"string","optional":false}]}"#))
  }
}
