import BinderTesting
import Connections
import ServiceTestSupport
import TestSupport
import Testing

/// Commands of a follower's client, while messages to the active daemon are lost.
@Suite(.leavesNothing)
struct ForwardingLossTests {
  private let pair: Pair
  private let client: TestClient

  init() throws {
    pair = try Pair {
      let whole = try LeaseBench()
      return (whole.bench, whole)
    }
    client = pair.follower.connect()
  }

  /// Returns a command that appends its number, with a `cmd`.
  private func push(_ id: Int) -> String {
    #"{"id":\#(id),"method":"lists.append","params":{"name":"n","value":\#(id),"_meta":{"cmd":"c\#(id)"}}}"#
  }

  /// Returns the numbers of the commands in the order in which they ran.
  private func order() -> String {
    let reader = pair.leader.connect()
    defer { reader.connection.end() }
    return reader.call(#"{"id":1,"method":"get","params":["lists/n"]}"#)
  }

  @Test
  func `a command waits for the one before it, which was lost`() {
    client.send(push(1))
    pair.lose()
    client.send(push(2), push(3))
    #expect(pair.settle(client).count == 3)
    #expect(order().contains(#"[1,2,3]"#))
  }

  @Test
  func `a command overtakes none that was lost, before the follower hears of it`() {
    client.send(push(1))
    _ = pair.settle(client)
    client.send(push(2))
    pair.loseMessages(of: "leader")
    client.send(push(3))
    #expect(pair.settle(client).count == 2)
    #expect(order().contains(#"[1,2,3]"#))
  }

  @Test
  func `a loss concerns only the client whose command is missing`() {
    let other = pair.follower.connect()
    other.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    #expect(pair.settle(other).joined().contains(#""name":"door","token""#))
    client.send(push(1))
    pair.lose()
    client.send(push(2))
    #expect(pair.settle(client).count == 2)
    #expect(!other.isClosed)
  }

  @Test
  func `a command waits for none that has ended without an answer`() {
    client.send(
      #"{"id":1,"method":"lists.append","params":{"name":"n","value":1,"_meta":{"timeout_ms":50}}}"#
    )
    pair.lose()
    pair.follower.time.advance(60)
    client.send(push(2))
    #expect(pair.settle(client).count == 2)
    #expect(order().contains("[2]"))
  }

  @Test
  func `the refusal of a lost command waits for the answers to those before it`() {
    let plain = #"{"id":2,"method":"lists.append","params":["n",2]}"#
    client.send(push(1), plain, push(3))
    pair.loseMessages(of: "leader")
    let answers = pair.settle(client)
    #expect(answers.count == 3)
    for (i, answer) in answers.enumerated() { #expect(answer.contains(#""id":\#(i + 1),"#)) }
    #expect(answers[1].contains(#""reason":"interrupted""#))
    #expect(order().contains("[1,3]"))
  }

  @Test
  func `each command of a client that may not connect is refused`() {
    let stranger = pair.follower.connect(uid: 77)
    stranger.send(push(1), push(2))
    let answers = pair.settle(stranger)
    #expect(answers.count == 2)
    #expect(answers.allSatisfy { $0.contains("uid 77 has no role at the active daemon") })
  }
}
