import API
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
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
      client.call(#"{"id":3,"method":"cells.remove","params":["nothing"]}"#)
        == #"{"jsonrpc":"2.0","id":3,"result":{"value":false}}"#)
  }

  @Test
  func `a command that waits for the disk requests a flush each time`() {
    _ = client.call(set(1, "a", "1"))
    #expect(bench.store.diskRequests == 0)
    let waiting = set(2, "a", "2", #","_meta":{"cmd":"c","wait":"disk"}"#)
    #expect(client.result(waiting)?["replayed"] == nil)
    #expect(bench.store.diskRequests == 1)
    #expect(client.result(waiting)?["replayed"] == .bool(true))
    #expect(bench.store.diskRequests == 2)
    let error = client.error(set(3, "a", "3", #","_meta":{"wait":"tape"}"#))
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string("/_meta/wait"))
    #expect(bench.store.diskRequests == 2)
  }

  @Test
  func `each user has separate idempotency keys`() {
    let meta = #","_meta":{"cmd":"c"}"#
    let other = bench.connect(uid: 2000)
    #expect(client.result(set(1, "a", "1", meta))?["seq"] == .number(JSONNumber(1)))
    #expect(other.result(set(1, "a", "2", meta))?["seq"] == .number(JSONNumber(2)))
    #expect(client.result(set(1, "a", "1", meta))?["seq"] == .number(JSONNumber(1)))
    #expect(client.error(set(1, "a", "2", meta))?.name == .cmdReused)
    #expect(other.result(set(1, "a", "2", meta))?["replayed"] == .bool(true))
  }

  @Test
  func `a refusal waits until the events that it depends on are durable`() {
    let other = bench.connect()
    client.send(set(1, "a", "1"))
    other.send(
      #"{"id":1,"method":"cells.compare_and_set","params":{"name":"a","expected":0,"value":2}}"#)
    #expect(other.received().isEmpty)
    bench.store.commit()
    #expect(other.received().first?.contains("value_differs") == true)
  }

  @Test
  func `parameters are accepted by name or by position, and misspelled ones are refused`() {
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
  func `an unknown method is named, with a suggestion`() {
    let error = client.error(#"{"id":1,"method":"cells.sett"}"#)
    #expect(error?.name == .methodNotFound)
    #expect(error?.data["method"] == .string("cells.sett"))
    #expect(error?.data["did_you_mean"] == .string("cells.set"))
    #expect(client.error(#"{"id":1,"method":"zzzzzzzz"}"#)?.data["did_you_mean"] == nil)
  }

  @Test
  func `the refusal of a service has a reason`() {
    _ = client.call(set(1, "text", "\"x\""))
    let error = client.error(#"{"id":1,"method":"cells.add","params":{"name":"text"}}"#)
    #expect(error?.name == .rejected)
    #expect(error?.data["reason"] == .string("not_a_number"))
  }

  @Test
  func `a repeated cmd gets its first answer, and another request with it is refused`() {
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

  @Test
  func `a repeated call is recognized in any order of its members`() {
    let value = #"{"b":[{"d":1,"c":2}],"a":1.0}"#
    _ = client.call(set(1, "a", value, #","_meta":{"cmd":"c-1"}"#))
    let again = client.result(
      #"{"id":2,"method":"cells.set","params":{"_meta":{"cmd":"c-1"},"value":{"a":1.0,"b":[{"c":2,"d":1}]},"name":"a"}}"#
    )
    #expect(again?["replayed"] == .bool(true))
    for other in [#"{"b":[{"d":1,"c":2}],"a":1}"#, #"{"b":[{"d":2,"c":1}],"a":1.0}"#] {
      #expect(client.error(set(3, "a", other, #","_meta":{"cmd":"c-1"}"#))?.name == .cmdReused)
    }
  }

  @Test
  func `a repeated cmd without events gets its first answer`() {
    let unset = #"{"id":1,"method":"cells.remove","params":{"name":"q","_meta":{"cmd":"c-1"}}}"#
    #expect(client.call(unset) == #"{"jsonrpc":"2.0","id":1,"result":{"value":false}}"#)
    _ = client.call(set(2, "q", "5"))
    #expect(
      client.call(unset) == #"{"jsonrpc":"2.0","id":1,"result":{"value":false,"replayed":true}}"#)
    #expect(bench.cells.ledger.value(of: "cells/q")?.text == "5")
    let other = client.error(set(3, "q", "6", #","_meta":{"cmd":"c-1"}"#))
    #expect(other?.name == .cmdReused)
    #expect(other?.data["seq"] == nil)
  }

  @Test
  func `the long answer of a repeated cmd comes from the journal`() {
    let value = "\"" + String(repeating: "x", count: 5_000) + "\""
    let first = client.result(set(1, "a", value, #","_meta":{"cmd":"c-1"}"#))
    let again = client.result(set(2, "a", value, #","_meta":{"cmd":"c-1"}"#))
    #expect(again?["value"] == first?["value"])
    #expect(again?["seq"] == .number(JSONNumber(1)))
    #expect(again?["version"] == .number(JSONNumber(1)))
    #expect(again?["replayed"] == .bool(true))
    // Not durable yet, so the journal has no event.
    client.send(
      set(3, "b", value, #","_meta":{"cmd":"c-2"}"#), set(4, "b", value, #","_meta":{"cmd":"c-2"}"#)
    )
    let answers = client.settle()
    #expect(answers.count == 2)
    #expect(answers.allSatisfy { $0.contains(value) && $0.contains(#""seq":2"#) })
  }

  @Test(arguments: [
    (#"{"cmd":""}"#, "/_meta/cmd"), (#"{"cmd":5}"#, "/_meta/cmd"),
    (#"{"cmd":"a\u0000"}"#, "/_meta/cmd"),
    (#"{"expect":{"cells/a":-1}}"#, "/_meta/expect/cells~1a"),
    (#"{"expect":{"cells/a":"maybe"}}"#, "/_meta/expect/cells~1a"),
    (#"{"expect":{"a~1":"maybe"}}"#, "/_meta/expect/a~01"),
    (#"{"expect":3}"#, "/_meta/expect"),
  ])
  func `invalid options are refused`(meta: String, path: String) {
    let error = client.error(set(1, "a", "1", #","_meta":\#(meta)"#))
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string(path))
    #expect(bench.host.last == 0)
  }

  @Test
  func `a failed expectation is a conflict, with the current version of the stream`() {
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
  func `a lost write is an error, and the next one works`() {
    client.send(set(1, "a", "1"))
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    let lines = client.received()
    #expect(lines.count == 1)
    #expect(
      lines[0].contains(#""name":"read_only","retry":true,"reason":"ENOSPC","outcome":"none""#))
    #expect(client.result(set(2, "a", "2"))?["seq"] == .number(JSONNumber(1)))
  }

  @Test
  func `a failed journal notifies the client and closes the connection`() {
    client.send(set(1, "a", "1"))
    bench.store.fail(.readOnly(reason: "EIO", outcome: .unknown))
    let lines = client.received()
    #expect(lines.count == 2)
    #expect(lines[0].contains(#""outcome":"unknown""#))
    #expect(lines[1].contains(#""reason":"journal_failed""#))
    #expect(client.isClosed)
  }

  @Test
  func `25: an internal error is reported with a reference, and logged in full`() throws {
    struct Unsayable: Codable {
      init() {}
      init(from decoder: any Decoder) throws {}
      func encode(to encoder: any Encoder) throws {
        throw EncodingError.invalidValue(0, .init(codingPath: [], debugDescription: "secret"))
      }
    }
    let bench = try Bench { catalog, _ in
      catalog.offer("odd", "Odd.")
      catalog.command("odd.one", "Fails.", SetCell.self, writes: []) { _, _ throws(CellsError) in
        Unsayable()
      }
    }
    var log: [String] = []
    bench.catalog.internalErrors.onError = { log.append("\($0): \($1)") }
    let client = bench.connect()
    for i in 1...2 {
      let error = client.error(#"{"id":1,"method":"odd.one","params":{"name":"a"}}"#)
      #expect(error?.name == .internalError)
      #expect(error?.data == ["ref": .string("E-\(i)")])
      #expect(log.count == i)
      #expect(log.last?.hasPrefix("E-\(i): odd.one: ") == true)
      #expect(log.last?.contains("secret") == true)
    }
    #expect(client.call(#"{"id":1,"method":"ping"}"#).contains("last"))
  }

  private struct SetCell: Decodable {
    let name: String
  }
}
