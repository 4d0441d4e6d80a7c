import JSON
import ServiceTestSupport
import TestSupport
import Testing

/// Repeated commands without effect or result.
@Suite(.leavesNothing)
struct RepeatTests {
  private let chat: ChatBench

  init() throws { chat = try ChatBench() }

  @Test
  func `a repeated command without effect and result gets a valid JSON answer`() throws {
    let kim = chat.client("kim")
    chat.makeRoom("lobby", by: kim)
    let same =
      #"{"id":1,"method":"chat.rename","params":{"room":"lobby","name":"lobby","_meta":{"cmd":"c"}}}"#
    let first = kim.call(same)
    #expect(first == #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    let again = #"{"jsonrpc":"2.0","id":1,"result":{"replayed":true}}"#
    #expect(kim.call(same) == again)
    #expect(kim.call("[\(same),\(same)]") == "[\(again),\(again)]")
  }
}
