import Connections
import JSON
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct ProtocolTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  @Test
  func `hello agrees on the protocol and identifies the server`() {
    let hello = client.result(
      #"{"id":1,"method":"hello","params":{"protocol":[1,2],"client":{"name":"x","version":"1"},"optional":["items"],"later":1,"limits":{"line":200000}}}"#
    )
    #expect(hello?["protocol"] == .number(JSONNumber(1)))
    #expect(hello?["epoch"] == .string("7f3a9c52"))
    guard case .object(let limits)? = hello?["limits"], case .object(let peer)? = hello?["peer"]
    else {
      Issue.record("no limits or no peer")
      return
    }
    #expect(limits["line_out"] == .number(JSONNumber(200_000)))
    #expect(peer["uid"] == .number(JSONNumber(1000)))
    #expect(client.connection.clientName == "x 1")
    #expect(client.error(#"{"id":2,"method":"hello"}"#)?.name == .invalidRequest)
  }

  @Test
  func `an unsupported protocol version is refused`() {
    let error = client.error(#"{"id":1,"method":"hello","params":{"protocol":[2]}}"#)
    #expect(error?.name == .unsupported)
    #expect(error?.data["supported"] == .array([.number(JSONNumber(1))]))
  }

  @Test
  func `ping is answered at once, with the time`() {
    #expect(
      client.call(#"{"id":1,"method":"ping"}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"last":0,"time":"2026-01-02T03:04:05.678901Z","uptime_ms":5}}"#
    )
    #expect(client.error(#"{"id":1,"method":"ping","params":{"x":1}}"#)?.name == .invalidParams)
  }

  @Test
  func `a method is described with its parameters`() {
    #expect(
      client.call(#"{"id":1,"method":"describe","params":{"path":"cells.add"}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"method":"cells.add","doc":"Adds to a number, exactly; returns the sum.","#
        + #""params":[{"name":"name","type":"string","optional":false,"doc":"The cell: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."},"#
        + #"{"name":"by","type":"number","optional":true,"doc":"The number to add; 1 when left out."}],"#
        + #""result":"number","members":[{"name":"value","type":"number","optional":true},"#
        + #"{"name":"seq","type":"integer","optional":true},{"name":"version","type":"integer","optional":true},"#
        + #"{"name":"lease","type":"string","optional":true},{"name":"replayed","type":"boolean","optional":true},"#
        + #"{"name":"effects","type":"object","optional":true}],"async":false,"writes":["cells.set"],"errors":["not_a_number","out_of_range"]}}"#
    )
  }

  @Test
  func `set is described with the events of all writers`() {
    let set = client.result(#"{"id":1,"method":"describe","params":{"path":"set"}}"#)
    #expect(set?["writes"] == .array([.string("cells.set")]))
  }

  @Test
  func `a service is described with its sources, methods and events`() {
    let cells = client.result(#"{"id":1,"method":"describe","params":{"path":"cells"}}"#)
    guard case .object(let signals)? = cells?["sources"],
      case .object(let all)? = signals["**"], case .object(let methods)? = cells?["methods"]
    else {
      Issue.record("\(String(describing: cells))")
      return
    }
    #expect(all["journaled"] == .bool(true))
    #expect(all["writable"] == .bool(true))
    #expect(
      methods.members.map(\.name) == ["add", "compare_and_set", "list", "remove", "set", "toggle"])
    #expect(cells?["events"] == .array([.string("cells.removed"), .string("cells.set")]))
    let load = client.result(#"{"id":1,"method":"describe","params":{"path":"system/load"}}"#)
    #expect(load?["journaled"] == .bool(false))
    let error = client.error(#"{"id":1,"method":"describe","params":{"path":"celsl"}}"#)
    #expect(error?.data["did_you_mean"] == .string("cells"))
  }

  @Test
  func `exactly the described methods can be called`() throws {
    let document = try #require(client.result(#"{"id":1,"method":"rpc.discover"}"#))
    #expect(document["openrpc"] == .string("1.2.6"))
    guard case .array(let methods)? = document["methods"] else {
      Issue.record("no methods")
      return
    }
    #expect(methods.count > 12)
    for method in methods {
      guard case .object(let method) = method, case .string(let name)? = method["name"] else {
        Issue.record("no name")
        continue
      }
      let client = bench.connect()
      let answer = client.call(#"{"id":1,"method":"\#(name)","params":{"no such":1}}"#)
      #expect(!answer.contains("method_not_found"), "\(name)")
      let described = client.result(#"{"id":1,"method":"describe","params":{"path":"\#(name)"}}"#)
      #expect(described?["method"] == .string(name))
      #expect(described?["doc"] != .string(""))
    }
  }

  @Test
  func `stats show every limit, and the usage of counted ones`() {
    _ = client.call(#"{"id":1,"method":"hello","params":{"limits":{"line":5000}}}"#)
    for name in ["a", "b"] {
      _ = client.call(#"{"id":2,"method":"subscribe","params":{"source":"cells/\#(name)"}}"#)
    }
    _ = bench.connect()
    let stats = client.result(#"{"id":3,"method":"stats"}"#)
    guard case .object(let limits)? = stats?["limits"], case .object(let usage)? = stats?["usage"]
    else {
      Issue.record("no limits")
      return
    }
    #expect(limits.members.map(\.name) == LimitName.allCases.map(\.rawValue))
    #expect(limits["batch"] == .number(JSONNumber(256)))
    #expect(limits["line_out"] == .number(JSONNumber(5000)), "as this client has asked")
    #expect(usage["subs"] == .number(JSONNumber(2)))
    #expect(usage["connections"] == .number(JSONNumber(2)))
    #expect(usage["inflight"] == .number(JSONNumber(0)))
    #expect(usage.members.allSatisfy { limits[$0.name] != nil })
    #expect(stats?["stats"] != nil)
  }

  @Test
  func `whoami returns the user and all rights`() {
    let me = bench.connect(uid: 500).result(#"{"id":1,"method":"whoami"}"#)
    #expect(me?["uid"] == .number(JSONNumber(500)))
    #expect(me?["user"] == .string("binder"))
    #expect(me?["role"] == .string("owner"))
    guard case .object(let allowed)? = me?["allowed"],
      case .array(let methods)? = allowed["methods"]
    else {
      Issue.record("nothing is allowed")
      return
    }
    #expect(methods.contains(.string("cells.set")))
    #expect(allowed["write"] == .array([.string("cells/**")]))
    #expect(client.result(#"{"id":1,"method":"whoami"}"#)?["user"] == nil)
  }

  @Test
  func `the name of a client is cut to 64 bytes, at a character`() {
    // 64 characters with 7,800 accents each would be a megabyte.
    let long = String(repeating: "a" + String(repeating: "\u{301}", count: 1_000), count: 10)
    #expect(
      client.result(
        #"{"id":1,"method":"hello","params":{"client":{"name":"\#(long)","version":"1"}}}"#) != nil)
    let kept = client.connection.clientName ?? ""
    #expect(kept.utf8.count <= 64)
    let other = bench.connect()
    _ = other.call(
      #"{"id":1,"method":"hello","params":{"client":{"name":"\#(String(repeating: "é", count: 90))"}}}"#
    )
    #expect(other.connection.clientName == String(repeating: "é", count: 32))
  }
}
