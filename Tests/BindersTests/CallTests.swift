import JSON
import Journal
import Services
import Testing
import Wire

struct CallTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  private func set(_ id: Int, _ name: String, _ value: String, _ meta: String = "") -> String {
    #"{"id":\#(id),"method":"cells.set","params":{"name":"\#(name)","value":\#(value)\#(meta)}}"#
  }

  @Test
  func `a command is answered when it is durable, with its position`() {
    client.send(set(1, "lamp", "true"))
    #expect(client.received().isEmpty)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"value":true,"seq":1,"version":1}}"#
      ])
    #expect(
      client.call(#"{"id":2,"method":"cells.add","params":{"name":"visits"}}"#)
        == #"{"jsonrpc":"2.0","id":2,"result":{"value":1,"seq":2,"version":1}}"#)
    #expect(
      client.call(#"{"id":3,"method":"cells.unset","params":["nothing"]}"#)
        == #"{"jsonrpc":"2.0","id":3,"result":{"value":false}}"#)
  }

  @Test
  func `a refusal waits for what it was decided on`() {
    let other = bench.connect()
    client.send(set(1, "a", "1"))
    other.send(
      #"{"id":1,"method":"cells.compareAndSet","params":{"name":"a","expected":0,"value":2}}"#)
    #expect(other.received().isEmpty)
    bench.store.commit()
    #expect(other.received().first?.contains("value_differs") == true)
  }

  @Test
  func `parameters are taken by name or by position, and typing errors are refused`() {
    #expect(client.result(#"{"id":1,"method":"cells.set","params":["a",{"x":1}]}"#) != nil)
    let cases: [(String, String, String)] = [
      (#"{"name":"a"}"#, "/value", "a value"), (#"{"name":1,"value":1}"#, "/name", "string"),
      (#"{"name":"a","valeu":1,"value":1}"#, "/valeu", "no such member"),
      (#"{"name":"a","value":1,"value":2}"#, "/value", "each member once"),
      (#"["a",1,2]"#, "/2", "at most 2 parameters"),
      (#"{"name":"a b","value":1}"#, "/name", "a name is made of A-Z a-z 0-9 _ . : - and /"),
    ]
    for (params, path, expected) in cases {
      let error = client.error(#"{"id":1,"method":"cells.set","params":\#(params)}"#)
      #expect(error?.name == .invalidParams, "\(params)")
      #expect(error?.data["path"] == .string(path), "\(params)")
      #expect(error?.data["expected"] == .string(expected), "\(params)")
    }
    #expect(bench.host.last == 1)
  }

  @Test
  func `a method that is not there is named, and what may have been meant`() {
    let error = client.error(#"{"id":1,"method":"cells.sett"}"#)
    #expect(error?.name == .methodNotFound)
    #expect(error?.data["method"] == .string("cells.sett"))
    #expect(error?.data["did_you_mean"] == .string("cells.set"))
    #expect(client.error(#"{"id":1,"method":"zzzzzzzz"}"#)?.data["did_you_mean"] == nil)
  }

  @Test
  func `a service's no has its reason`() {
    _ = client.call(set(1, "text", "\"x\""))
    let error = client.error(#"{"id":1,"method":"cells.add","params":{"name":"text"}}"#)
    #expect(error?.name == .rejected)
    #expect(error?.data["reason"] == .string("not_a_number"))
  }

  @Test
  func `the same cmd is answered as the first time, another one under it is refused`() {
    let first = client.result(set(1, "a", "1", #","_meta":{"cmd":"c-1"}"#))
    #expect(first?["seq"] == .number(JSONNumber(1)))
    let again = client.result(set(2, "a", "1", #","_meta":{"cmd":"c-1","later":true}"#))
    #expect(again?["seq"] == .number(JSONNumber(1)))
    #expect(again?["value"] == .number(JSONNumber(1)))
    #expect(again?["replayed"] == .bool(true))
    let other = client.error(set(3, "a", "2", #","_meta":{"cmd":"c-1"}"#))
    #expect(other?.name == .cmdReused)
    #expect(other?.data["seq"] == .number(JSONNumber(1)))
    #expect(bench.host.last == 1)
  }

  @Test(arguments: [
    (#"{"cmd":""}"#, "/_meta/cmd"), (#"{"cmd":5}"#, "/_meta/cmd"),
    (#"{"cmd":"a\u0000"}"#, "/_meta/cmd"), (#"{"expect":{"cells/a":-1}}"#, "/_meta/expect/cells/a"),
    (#"{"expect":{"cells/a":"maybe"}}"#, "/_meta/expect/cells/a"),
    (#"{"expect":3}"#, "/_meta/expect"),
  ])
  func `options that are none are refused`(meta: String, path: String) {
    let error = client.error(set(1, "a", "1", #","_meta":\#(meta)"#))
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string(path))
    #expect(bench.host.last == 0)
  }

  @Test
  func `an expectation that does not hold is a conflict, and says where the stream is`() {
    _ = client.call(set(1, "a", "1"))
    let error = client.error(set(2, "a", "2", #","_meta":{"expect":{"cells/a":3}}"#))
    #expect(error?.name == .conflict)
    #expect(error?.message == "stream 'cells/a' is at version 1, expected version 3")
    #expect(
      error?.data
        == [
          "stream": .string("cells/a"), "expected": .number(JSONNumber(3)),
          "actual": .number(JSONNumber(1)),
        ])
    #expect(client.result(set(3, "a", "2", #","_meta":{"expect":{"cells/a":1}}"#)) != nil)
    #expect(client.error(set(4, "a", "2", #","_meta":{"expect":{"cells/b":"exists"}}"#)) != nil)
  }

  @Test
  func `a write that is lost is told as such, and the next is taken`() {
    client.send(set(1, "a", "1"))
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    let lines = client.received()
    #expect(lines.count == 1)
    #expect(
      lines[0].contains(#""name":"read_only","retry":true,"reason":"ENOSPC","outcome":"none""#))
    #expect(client.result(set(2, "a", "2"))?["seq"] == .number(JSONNumber(1)))
  }

  @Test
  func `a journal at its end says so, and hangs up`() {
    client.send(set(1, "a", "1"))
    bench.store.fail(.readOnly(reason: "EIO", outcome: .unknown))
    let lines = client.received()
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""outcome":"unknown""#))
    #expect(lines[1].contains(#""reason":"journal_failed""#))
    #expect(client.isClosed)
  }
}
