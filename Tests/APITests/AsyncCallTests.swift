import API
import BinderTesting
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing
import Wire

@Suite(.leavesNothing)
struct AsyncCallTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  private let history = #"{"id":"h","method":"history","params":{"source":"events"}}"#

  @Test
  func `later requests overtake a page of the journal, unless it is cancelled`()
    throws
  {
    client.send(history, #"{"id":2,"method":"ping"}"#)
    #expect(client.received().map { $0.contains(#""id":2"#) } == [true])
    bench.store.read()
    #expect(client.received().map { $0.contains(#""id":"h","result""#) } == [true])
    client.send(history, #"{"id":3,"method":"cancel","params":{"id":"h"}}"#)
    let lines = client.received()
    #expect(lines.count == 2)
    #expect(lines.first?.contains(#""id":"h","error":{"code":-32009"#) == true)
    #expect(lines.last == #"{"jsonrpc":"2.0","id":3,"result":{"id":"h","was":"active"}}"#)
    bench.store.read()
    #expect(client.received().isEmpty)
  }

  @Test
  func `cancelling an unknown request says so`() {
    #expect(
      client.call(#"{"id":1,"method":"cancel","params":{"id":7}}"#)
        == #"{"jsonrpc":"2.0","id":1,"result":{"id":7,"was":"unknown"}}"#)
    #expect(
      client.error(#"{"id":1,"method":"cancel","params":{"id":[7]}}"#)?.data["path"]
        == .string("/id"))
    #expect(client.error(#"{"id":1,"method":"cancel"}"#)?.name == .invalidParams)
  }

  @Test
  func `a command that has recorded events cannot be cancelled`() {
    client.send(
      #"{"id":1,"method":"cells.set","params":["a",1]}"#,
      #"{"id":2,"method":"cancel","params":{"id":1}}"#)
    #expect(client.received().isEmpty)
    #expect(
      client.settle() == [
        #"{"jsonrpc":"2.0","id":1,"result":{"value":1,"seq":1,"version":1}}"#,
        #"{"jsonrpc":"2.0","id":2,"result":{"id":1,"was":"recorded"}}"#,
      ])
    #expect(bench.cells.ledger.value(of: "cells/a")?.text == "1")
  }

  @Test
  func `a call that is over its deadline before its turn does not run`() {
    let hurried = #""_meta":{"timeout_ms":1000}"#
    client.send(
      #"{"id":1,"method":"cells.set","params":["a",1]}"#,
      #"{"id":2,"method":"get","params":{"source":"cells/a",\#(hurried)}}"#,
      #"{"id":3,"method":"cells.set","params":{"name":"a","value":2,\#(hurried)}}"#)
    bench.time.advance(1500)
    let lines = client.settle()
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""id":1,"result""#))
    #expect(lines[1].contains(#""id":2,"error""#))
    #expect(lines[1].contains(#""name":"timeout","retry":true,"after_ms":1000,"outcome":"none""#))
    #expect(lines[2].contains(#""id":3,"result""#), "it was not looked at before its turn")
  }

  @Test
  func `a write that times out on a slow disk is confirmed by repeating its cmd`() {
    let set =
      #"{"id":1,"method":"cells.set","params":{"name":"a","value":1,"_meta":{"cmd":"c","timeout_ms":500}}}"#
    client.send(set)
    bench.time.advance(500)
    #expect(client.received().map { $0.contains(#""outcome":"unknown""#) } == [true])
    bench.store.commit()
    #expect(client.received().isEmpty)
    #expect(
      client.call(set)
        == #"{"jsonrpc":"2.0","id":1,"result":{"value":1,"seq":1,"version":1,"replayed":true}}"#)
  }

  @Test(arguments: ["0", "-1", "86400001", "1.5", #""1s""#])
  func `an invalid timeout is refused`(timeout: String) {
    for method in [#"get","params":{"source":"cells/a""#, #"cells.toggle","params":{"name":"a""#] {
      let error = client.error(
        #"{"id":1,"method":"\#(method),"_meta":{"timeout_ms":\#(timeout)}}}"#)
      #expect(error?.name == .invalidParams)
      #expect(error?.data["path"] == .string("/_meta/timeout_ms"))
    }
    #expect(bench.host.last == 0)
  }

  @Test
  func `a method that runs over its time limit is rolled back`() throws {
    var now: UInt64 = 0
    let bench = try Bench { catalog, parts in
      let host = parts.host
      catalog.clock = { now }
      let lists = ListsService(in: host)
      catalog.offer("slow", "Takes its time.")
      catalog.command("slow.append", "Appends late.", Slow.self, writes: []) {
        _, slow throws(CollectionError) in
        let index = try lists.append(JSONText(slow.ms), to: "l")
        now += UInt64(slow.ms)
        return index
      }
    }
    let client = bench.connect()
    #expect(client.result(#"{"id":1,"method":"slow.append","params":[5000]}"#) != nil)
    let error = client.error(#"{"id":1,"method":"slow.append","params":[5001]}"#)
    #expect(error?.name == .timeout)
    #expect(error?.data["after_ms"] == .number(JSONNumber(5000)))
    #expect(bench.host.last == 1)
  }

  private struct Slow: Decodable {
    let ms: Int
  }
}
