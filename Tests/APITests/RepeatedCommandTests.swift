import Connections
import JSON
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// A reused `_meta.cmd`, with another request or by another user.
@Suite(.leavesNothing)
struct RepeatedCommandTests {
  @Test
  func `a logged-in user does not get the answers to commands of another`() throws {
    let chat = try ChatBench()
    let (kim, lee) = (chat.client("kim"), chat.client("lee"))
    chat.makeRoom("lobby", by: kim)
    _ = call(lee, "chat.join", #"{"room":"lobby"}"#)
    let hi = #"{"room":"lobby","text":"hi","_meta":{"cmd":"1"}}"#
    #expect(call(kim, "chat.send", hi).contains(#""value":1"#))
    #expect(error(lee, "chat.send", hi)?.name == .cmdReused, "it is not answered as done")
    #expect(call(kim, "chat.send", hi).contains(#""replayed":true"#))
    let both =
      #"{"calls":[{"method":"chat.send","params":{"room":"lobby","text":"a"}}],"_meta":{"cmd":"2"}}"#
    #expect(call(kim, "atomic", both).contains(#""events":1"#))
    #expect(error(lee, "atomic", both)?.name == .cmdReused)
  }

  @Test
  func `a command refused before the login can be repeated after it`() throws {
    let chat = try ChatBench()
    chat.makeRoom("lobby", by: chat.client("kim"))
    let late = chat.bench.connect()
    let hi = #"{"room":"lobby","text":"hi","_meta":{"cmd":"k1"}}"#
    #expect(error(late, "chat.send", hi)?.data["reason"] == .string("not_logged_in"))
    _ = call(late, "users.log_in", #"{"name":"kim"}"#)
    #expect(call(late, "chat.send", hi).contains(#""value":1"#))
  }

  @Test
  func `a command that waits too long is refused, and runs once when it is repeated`() throws {
    let bench = try Bench()
    let client = bench.connect()
    let add = #"{"id":1,"method":"cells.add","params":{"name":"n","by":1,"_meta":{"cmd":"c"}}}"#
    client.send(add, #"{"id":2,"method":"get","params":["cells/n"]}"#)
    bench.table.flush()
    #expect(client.received().isEmpty)
    bench.store.stall()
    bench.table.flush()
    let lines = client.received()
    #expect(lines.count == 2)
    let reason = #""name":"read_only","retry":true,"reason":"interrupted","outcome":"unknown""#
    #expect(lines.first?.contains(reason) == true, "\(lines)")
    #expect(lines.last?.contains(#""not_found""#) == true, "values are served")
    // The journal is back, and has the event.
    #expect(client.settle().isEmpty)
    #expect(client.call(add).contains(#""replayed":true"#))
    #expect(
      client.result(#"{"id":3,"method":"get","params":["cells/n"]}"#)?["value"]
        == .number(JSONNumber(1)))
  }

  @Test
  func `logins do not affect repeated commands that need no user`() throws {
    let chat = try ChatBench()
    let kim = chat.client("kim")
    let set = #"{"name":"a","value":1,"_meta":{"cmd":"1"}}"#
    let both =
      #"{"calls":[{"method":"cells.set","params":{"name":"b","value":1}}],"_meta":{"cmd":"2"}}"#
    _ = call(kim, "cells.set", set)
    _ = call(kim, "atomic", both)
    let nobody = chat.bench.connect()
    #expect(call(nobody, "cells.set", set).contains(#""replayed":true"#))
    #expect(call(nobody, "atomic", both).contains(#""replayed":true"#))
  }

  @Test
  func `the cmd of a refused command cannot be used for another one`() throws {
    let bench = try Bench()
    let client = bench.connect()
    func swap(_ value: Int) -> WireError? {
      client.error(
        #"{"id":1,"method":"cells.compare_and_set","params":{"name":"n","expected":77,"value":\#(value),"_meta":{"cmd":"R1"}}}"#
      )
    }
    #expect(swap(1)?.name == .rejected)
    _ = client.call(#"{"id":1,"method":"cells.set","params":["n",77]}"#)
    #expect(swap(2)?.name == .cmdReused)
    #expect(swap(1)?.name == .rejected, "the client already has a refusal")
  }

  @Test(arguments: ["cells/*", ""])
  func `an expectation on an invalid stream is refused`(stream: String) throws {
    let client = try Bench().connect()
    let error = client.error(
      #"{"id":1,"method":"cells.set","params":{"name":"a","value":1,"_meta":{"expect":{"\#(stream)":"none"}}}}"#
    )
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string("/_meta/expect"))
  }
}
