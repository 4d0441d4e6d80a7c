import BinderTesting
import Connections
import JSON
import Journal
import JournalMemory
import ServiceTestSupport
import TestSupport
import Testing
import Wire

/// Commands that clients send to a daemon that follows.
@Suite(.leavesNothing)
struct ForwardingTests {
  private let pair: Pair
  private let client: TestClient

  init() throws {
    pair = try Pair {
      let whole = try LeaseBench()
      return (whole.bench, whole)
    }
    client = pair.follower.connect()
  }

  private func add(_ id: Int, _ meta: String = "") -> String {
    #"{"id":\#(id),"method":"cells.add","params":{"name":"n","by":1\#(meta)}}"#
  }

  private func value(_ number: Int, id: Int, seq: Int? = nil) -> String {
    let seq = seq ?? number
    return
      #"{"jsonrpc":"2.0","id":\#(id),"result":{"value":\#(number),"seq":\#(seq),"version":\#(number)}}"#
  }

  @Test
  func `commands run at the active daemon, in order, and the client reads its own writes`() {
    client.send(add(1), add(2), #"{"id":3,"method":"get","params":["cells/n"]}"#)
    #expect(client.received().isEmpty)
    #expect(
      pair.settle(client) == [
        value(1, id: 1), value(2, id: 2),
        #"{"jsonrpc":"2.0","id":3,"result":{"source":"cells/n","kind":"state","seq":2,"value":2}}"#,
      ])
  }

  @Test
  func `numbers in forged messages do no harm`() {
    client.send(add(1))
    _ = pair.settle(client)
    let id = client.connection.id
    for number in [Int.max, Int.max, Int.min, Int.min, -1, 0] {
      pair.forge(#"{"client":\#(id),"size":\#(number)}"#, to: "follower", from: "leader")
      pair.forge(#"{"client":\#(id),"taken":\#(number)}"#, to: "leader", from: "follower")
    }
    client.send(add(2))
    #expect(pair.settle(client) == [value(2, id: 2)])
  }

  @Test
  func `an answer waits until this daemon has applied the events`() {
    client.send(add(1))
    pair.deliver()
    // The answer is here, and the event is not.
    pair.follower.store.lead(term: 2)
    pair.leader.store.commit()
    pair.leader.table.flush()
    pair.deliver()
    #expect(client.received().isEmpty)
    pair.follower.store.follow(pair.leader.store)
    #expect(client.received() == [value(1, id: 1)])
  }

  @Test
  func `an error of the active daemon is that of the client`() {
    client.send(#"{"id":1,"method":"cells.add","params":{"name":"a b","by":1}}"#)
    let answer = pair.settle(client).joined()
    #expect(answer.contains(#""error":{"#) && answer.contains(#""path":"/name""#))
  }

  @Test
  func `a user without a role at the active daemon is refused`() {
    let stranger = pair.follower.connect(uid: 77)
    stranger.send(add(1))
    #expect(pair.settle(stranger).joined().contains("uid 77 has no role at the active daemon"))
  }

  @Test
  func `a command with a cmd is sent again when messages were lost, and runs once`() {
    client.send(add(1, #","_meta":{"cmd":"c"}"#))
    pair.deliver()
    pair.leader.store.commit()
    pair.leader.table.flush()
    pair.loseMessages(of: "follower")
    #expect(
      pair.settle(client).joined().contains(#""value":1,"seq":1,"version":1,"replayed":true"#))
    #expect(pair.leader.store.last == 1)
  }

  @Test
  func `the active daemon tells that it has missed requests`() {
    client.send(add(1, #","_meta":{"cmd":"c"}"#))
    pair.loseMessages(of: "leader")
    #expect(pair.settle(client) == [value(1, id: 1)])
  }

  @Test
  func `a command without a cmd whose answer is lost is refused, with its outcome unknown`() {
    client.send(add(1))
    pair.deliver()
    pair.loseMessages(of: "follower")
    let answer = client.received().joined()
    #expect(answer.contains(#""name":"read_only""#))
    #expect(answer.contains(#""reason":"interrupted""#) && answer.contains(#""outcome":"unknown""#))
    // The answer that comes later is dropped.
    #expect(pair.settle(client).isEmpty)
  }

  @Test
  func `commands wait while no daemon is active, and are refused after a time`() {
    pair.change(to: nil)
    client.send(add(1))
    #expect(pair.settle(client).isEmpty)
    pair.change(to: "leader")
    #expect(pair.settle(client) == [value(1, id: 1)])
    pair.change(to: nil)
    client.send(add(2))
    pair.follower.time.advance(5_000)
    let answer = client.received().joined()
    #expect(answer.contains(#""reason":"following","outcome":"none""#))
    pair.change(to: "leader")
    pair.settle()
    #expect(pair.leader.store.last == 1)
  }

  @Test
  func `commands are refused at once while no daemon has been active for long`() {
    pair.change(to: nil)
    pair.follower.time.advance(4_000)
    client.send(add(1))
    pair.follower.time.advance(999)
    #expect(client.received().isEmpty)
    pair.follower.time.advance(1)
    #expect(client.received().joined().contains(#""reason":"following","outcome":"none""#))
    client.send(add(2))
    #expect(client.received().joined().contains(#""reason":"following","outcome":"none""#))
    pair.change(to: "leader")
    client.send(add(3))
    #expect(pair.settle(client) == [value(1, id: 3)])
  }

  @Test
  func `commands are refused with the reason, if the database is away for long`() {
    pair.interruptFollower {
      pair.follower.time.advance(5_000)
      client.send(add(1))
      #expect(client.received().joined().contains(#""reason":"database","outcome":"none""#))
    }
    client.send(add(2))
    #expect(pair.settle(client) == [value(1, id: 2)])
  }

  @Test
  func `a daemon that becomes the active one runs its own waiting commands`() {
    pair.change(to: nil)
    client.send(add(1), #"{"id":2,"method":"get","params":["cells/n"]}"#)
    pair.follower.store.lead(term: 2)
    pair.change(to: "follower")
    client.send(add(3))
    for _ in 0..<4 {
      pair.deliver()
      pair.follower.store.commit()
      pair.follower.table.flush()
    }
    #expect(
      client.received() == [
        value(1, id: 1),
        #"{"jsonrpc":"2.0","id":2,"result":{"source":"cells/n","kind":"state","seq":1,"value":1}}"#,
        value(2, id: 3),
      ])
  }

  @Test
  func `what ends with a connection ends with that of a follower's client`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    #expect(pair.settle(client).joined().contains(#""name":"door","token""#))
    let other = pair.leader.connect()
    other.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    #expect(other.settle().isEmpty)
    client.connection.end()
    pair.settle()
    #expect(other.settle().joined().contains(#""name":"door","token""#))
  }

  @Test
  func `the clients of a daemon that is gone end`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    pair.settle()
    #expect(pair.leader.table.connections.count == 1)
    pair.loseFollower()
    #expect(pair.leader.table.connections.isEmpty)
  }

  @Test
  func `a client that has left something at the active daemon begins again after a takeover`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    let plain = pair.follower.connect()
    plain.send(add(1))
    pair.settle()
    _ = client.received()
    pair.change(to: "third")
    #expect(
      client.received().joined().contains(#""method":"closing","params":{"reason":"restart""#))
    #expect(client.isClosed && !plain.isClosed)
  }

  @Test
  func `a client that ends while its daemon is cut off ends at the active daemon too`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    pair.settle()
    pair.interruptFollower { client.connection.end() }
    pair.settle()
    #expect(pair.leader.table.connections.isEmpty)
  }

  @Test
  func `a client that may have missed notifications begins again, and others go on`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    let plain = pair.follower.connect()
    plain.send(add(1))
    pair.settle()
    _ = plain.received()
    pair.interruptFollower {}
    #expect(client.isClosed && !plain.isClosed)
    plain.send(add(2))
    #expect(pair.settle(plain).joined().contains(#""id":2,"result":{"value":2"#))
    #expect(pair.leader.table.connections.count == 1)
  }

  @Test
  func `a client whose daemon was silent for too long begins again`() {
    client.send(add(1))
    pair.settle()
    _ = client.received()
    pair.loseFollower()
    client.send(add(2))
    pair.settle()
    #expect(client.isClosed)
    #expect(pair.leader.table.connections.isEmpty)
  }

  @Test
  func `the parameters say where a method runs, in whatever form they come`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"s","max_unacked":9,"ack_wait_ms":9000,"share":true,"durable":"r"}}"#
    )
    #expect(pair.settle(client).joined().contains(#""durable":"r""#))
    client.send(add(2))
    #expect(pair.settle(client).joined().contains(#""method":"next","params":{"sub":"s""#))
    client.send(#"{"id":3,"method":"ack","params":["s",2]}"#)
    #expect(pair.settle(client).joined().contains(#""id":3,"result":{"sub":"s""#))
    client.send(#"{"id":4,"method":"unsubscribe","params":["s"]}"#)
    #expect(pair.settle(client).joined().contains(#""was":"active""#))
    #expect(pair.leader.table.context.counts.subscriptions == 0)
  }

  @Test
  func `calls that wait for long do not hold up commands`() {
    let other = pair.leader.connect()
    other.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    _ = other.settle()
    let most = pair.follower.table.context.limits.inFlight
    for id in 1...most + 1 {
      client.send(#"{"id":\#(id),"method":"locks.acquire","params":["door"]}"#)
    }
    client.send(#"{"id":999,"method":"cells.set","params":["x",1]}"#)
    let answers = pair.settle(client)
    #expect(answers.contains { $0.contains(#""id":\#(most + 1),"error""#) })
    #expect(answers.contains { $0.contains(#""id":999,"result""#) })
    #expect(client.received().isEmpty)
  }

  @Test
  func `a call that waits is cancelled at the active daemon too`() {
    let other = pair.leader.connect()
    other.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    _ = other.settle()
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#)
    pair.settle()
    client.send(#"{"id":2,"method":"cancel","params":{"id":1}}"#)
    let answers = pair.settle(client).joined()
    #expect(
      answers.contains(#""name":"cancelled""#) && answers.contains(#""active""#), "\(answers)")
    pair.settle()
    other.send(#"{"id":2,"method":"locks.release","params":["door"]}"#)
    _ = other.settle()
    pair.settle()
    #expect(other.result(#"{"id":3,"method":"get","params":["locks/door"]}"#) == nil)
  }

  @Test
  func `a planned stop of the active daemon disconnects nobody`() {
    client.send(add(1))
    pair.settle()
    _ = client.received()
    pair.leader.table.stopReading()
    pair.leader.table.closeAll(.shutdown)
    pair.deliver()
    #expect(client.received().isEmpty && !client.isClosed)
  }

  @Test
  func `a command in doubt is refused if no daemon becomes active in time`() {
    client.send(add(1, #","_meta":{"cmd":"c"}"#))
    pair.deliver()
    pair.change(to: nil)
    pair.follower.time.advance(4_999)
    #expect(client.received().isEmpty)
    pair.follower.time.advance(1)
    let answer = client.received().joined()
    #expect(answer.contains(#""reason":"interrupted","outcome":"unknown""#), "\(answer)")
  }

  @Test
  func `an answer does not overtake one that waits for its position`() {
    client.send(add(1))
    pair.deliver()
    pair.follower.store.lead(term: 2)
    pair.leader.store.commit()
    pair.leader.table.flush()
    pair.deliver()  // the first answer is here and waits
    client.send(#"{"id":2,"method":"cells.remove","params":["none"]}"#)
    // The position arrives in the same turn as the second answer.
    let messages = pair.exchange()
    pair.follower.store.follow(pair.leader.store)
    messages()
    let ids = pair.settle(client).map { $0.contains(#""id":1"#) ? 1 : 2 }
    #expect(ids == [1, 2])
  }

  @Test
  func `a client that the active daemon drops begins again`() {
    client.send(add(1))
    pair.settle()
    _ = client.received()
    for connection in pair.leader.table.connections.values { connection.close(.kicked) }
    pair.settle()
    #expect(client.isClosed)
  }

  @Test
  func `a login counts at both daemons`() throws {
    let pair = try Pair {
      let whole = try ChatBench()
      return (whole.bench, whole)
    }
    let client = pair.follower.connect()
    client.send(#"{"id":1,"method":"users.log_in","params":{"name":"ada"}}"#)
    #expect(pair.settle(client).joined().contains(#""value":"ada""#))
    client.send(#"{"id":2,"method":"users.whoami"}"#)
    #expect(pair.settle(client).joined().contains(#""user":"ada""#))
    client.send(#"{"id":3,"method":"chat.create","params":{"name":"hall"}}"#)
    #expect(pair.settle(client).joined().contains(#""result":{"value":"#))
    client.send(#"{"id":4,"method":"users.log_out"}"#)
    #expect(pair.settle(client).joined().contains(#""value":true"#))
    client.send(#"{"id":5,"method":"users.whoami"}"#)
    #expect(!pair.settle(client).joined().contains(#""user":"ada""#))
  }

  @Test
  func `a call of a batch is answered with the batch`() {
    client.send(
      #"[{"id":1,"method":"cells.add","params":["n",1]},{"id":2,"method":"get","params":["cells/n"]}]"#
    )
    #expect(
      pair.settle(client) == [
        "[" + value(1, id: 1) + ","
          + #"{"jsonrpc":"2.0","id":2,"result":{"source":"cells/n","kind":"state","seq":1,"value":1}}"#
          + "]"
      ])
  }

  @Test
  func `more commands than may be in flight wait, and none is refused`() {
    let count = 3 * pair.follower.table.context.limits.inFlight
    client.send(
      (1...count).map { #"{"id":\#($0),"method":"cells.add","params":["n",1]}"# }
        .joined(separator: "\n"))
    var answers: [String] = []
    for _ in 0..<10 { answers += pair.settle(client) }
    #expect(answers == (1...count).map { value($0, id: $0) })
  }

  @Test
  func `a client that takes its answers gets as many bytes as it asks for`() {
    let value = String(repeating: "x", count: 60_000)
    var count = 0
    for i in 1...20 {
      client.send(#"{"id":\#(i),"method":"set","params":["cells/long","\#(value)\#(i)"]}"#)
      count += pair.settle(client).count
    }
    #expect(count == 20)
  }

  @Test
  func `a view runs at the active daemon, and its intents too`() throws {
    let pair = try Pair {
      let whole = try ChatBench()
      return (whole.bench, whole)
    }
    let client = pair.follower.connect()
    client.send(#"{"id":1,"method":"users.log_in","params":{"name":"ada"}}"#)
    client.send(#"{"id":2,"method":"open","params":{"binder":"threads"}}"#)
    let opened = pair.settle(client).joined()
    #expect(opened.contains(#""view":4294967297"#), "no handle of its own daemon")
    client.send(
      #"{"id":3,"method":"intent","params":{"view":4294967297,"name":"start","args":{"name":"hi"}}}"#
    )
    let started = pair.settle(client).joined()
    #expect(started.contains(#""id":3,"result""#), "\(started)")
    #expect(started.contains(#""view":4294967297,"seq":2"#), "the view shows the new thread")
    #expect(client.connection.views[.number(4_294_967_297)] == nil)
    client.send(#"{"id":4,"method":"open","params":{"binder":"system"}}"#)
    #expect(pair.settle(client).joined().contains(#""view":1,"#))
    client.send(#"{"id":5,"method":"close","params":{"view":1}}"#)
    #expect(pair.settle(client).joined().contains(#""closed":[1]"#))
  }

  @Test
  func `a durable reader is kept by the active daemon`() {
    client.send(
      #"{"id":2,"method":"subscribe","params":{"source":"events","durable":"r","sub":"s"}}"#,
      add(1), #"{"id":3,"method":"subscribe","params":{"source":"cells/n"}}"#)
    let answer = pair.settle(client).joined(separator: "\n")
    #expect(answer.contains(#""method":"next","params":{"sub":"s","seq":2"#), "\(answer)")
    client.send(#"{"id":4,"method":"ack","params":{"sub":"s","seq":2}}"#)
    #expect(pair.settle(client).joined().contains(#""id":4,"result":{"sub":"s","seq":2"#))
    client.send(#"{"id":5,"method":"unsubscribe","params":{"sub":"s"}}"#)
    #expect(pair.settle(client).joined().contains(#""was":"active""#))
    #expect(pair.leader.table.context.counts.subscriptions == 0)
    #expect(pair.follower.table.context.counts.subscriptions == 1)
  }

  @Test
  func `a client that half-closes keeps what it has at the active daemon`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"r","sub":"s"}}"#)
    pair.settle()
    client.connection.receiveEnd()
    _ = pair.settle(client)
    #expect(!client.isClosed)
    let other = pair.leader.connect()
    other.send(add(1))
    #expect(pair.settle(client).joined().contains(#""method":"next","params":{"sub":"s""#))
    #expect(!client.isClosed)
  }

  @Test
  func `a client that half-closes ends once nothing is left of it at either daemon`() {
    client.send(#"{"id":1,"method":"locks.acquire","params":["door"]}"#, add(2))
    client.connection.receiveEnd()
    let lines = pair.settle(client)
    #expect(lines.count == 2 && !lines.joined().contains("closing"), "\(lines)")
    #expect(client.isClosed)
    #expect(pair.leader.table.connections.isEmpty)
  }

  @Test
  func `a half-closed client that is removed at the active daemon begins again`() {
    client.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"r","sub":"s"}}"#)
    client.connection.receiveEnd()
    _ = pair.settle(client)
    for connection in pair.leader.table.connections.values { connection.close(.kicked) }
    #expect(pair.settle(client).joined().contains(#""method":"closing","params":{"reason":"rest"#))
    #expect(client.isClosed)
  }

  @Test
  func `long commands wait at the client's own daemon, and all run`() {
    let value = String(repeating: "x", count: 100_000)
    for id in 1...40 {
      client.send(#"{"id":\#(id),"method":"cells.set","params":["long","\#(value)"]}"#)
    }
    let size = pair.messages.reduce(0) { $0 + $1.text.utf8.count }
    #expect(size <= pair.follower.table.context.limits.outputSoft + value.utf8.count)
    var answers: [String] = []
    for _ in 0..<20 { answers += pair.settle(client) }
    #expect(answers.count == 40)
    #expect(client.connection.forwardedRequests == 0)
  }

  @Test
  func `a timeout of the client says that the command may be done`() {
    client.send(add(1, #","_meta":{"timeout_ms":50}"#))
    pair.follower.time.advance(60)
    let answer = client.received().joined()
    #expect(answer.contains(#""name":"timeout""#) && answer.contains("unknown"))
    #expect(pair.settle(client).isEmpty)
  }
}
