import API
import BinderTesting
import Configuration
import Connections
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
struct ReadersTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
    for value in 1...5 { _ = client.call(#"{"method":"cells.set","params":["a",\#(value)]}"#) }
  }

  private func subscribe(_ rest: String = "", sub: String = "d") -> String {
    #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"\#(sub)","durable":"mailer"\#(rest)}}"#
  }

  private func ack(_ seq: Int, id: Int = 2, sub: String = "d") -> String {
    #"{"id":\#(id),"method":"ack","params":{"sub":"\#(sub)","seq":\#(seq)}}"#
  }

  /// Returns the positions of the events in lines.
  private func seqs(_ lines: [String]) -> [Int] {
    lines.filter { $0.contains(#""event":"#) }.compactMap { line in
      guard case .object(let frame)? = try? JSONValue(parsing: line),
        case .object(let params)? = frame["params"], case .number(let seq)? = params["seq"]
      else { return nil }
      return seq.int64.map { Int($0) }
    }
  }

  private func lines(of client: TestClient, _ line: String) -> [String] {
    client.send(line)
    return client.settle()
  }

  private func paused(_ count: Int) -> String {
    #"{"jsonrpc":"2.0","method":"paused","params":{"sub":"d","reason":"unacked","unacked":\#(count)}}"#
  }

  private func position(_ name: String = "mailer") -> JSONValue? {
    client.result(#"{"id":1,"method":"get","params":["readers/\#(name)"]}"#)?["value"]
  }

  private func at(_ seq: Int) -> JSONValue { .object(["seq": .number(JSONNumber(seq))]) }

  // MARK: Resuming

  @Test
  func `a new reader begins at the requested position, and a known one at its stored position`() {
    let first = lines(of: client, subscribe(#","from":{"after":2}"#))
    #expect(
      first.first
        == #"{"jsonrpc":"2.0","id":1,"result":{"sub":"d","source":"events","kind":"events","epoch":"7f3a9c52","first":1,"last":6,"after":2,"durable":"mailer","new":true}}"#
    )
    #expect(seqs(first) == [3, 4, 5])
    #expect(position() == at(2))
    #expect(
      client.call(ack(4))
        == #"{"jsonrpc":"2.0","id":2,"result":{"sub":"d","seq":4,"unacked":1}}"#)
    #expect(position() == at(4))
    client.connection.end()

    let other = bench.connect()
    let again = lines(of: other, subscribe(#","from":"start""#))
    #expect(
      again.first?.contains(#""after":4,"durable":"mailer","new":false,"delivered":5}"#) == true)
    #expect(seqs(again) == [5])
  }

  @Test
  func `the reply says which events were sent to an earlier holder`() {
    _ = lines(of: client, subscribe(#","from":"start","max_unacked":2"#))
    _ = client.call(ack(1))
    let thief = bench.connect()
    let stolen = lines(of: thief, subscribe(#","steal":true,"max_unacked":1"#))
    #expect(
      stolen.first?.contains(#""after":1,"durable":"mailer","new":false,"delivered":3}"#) == true)
    _ = thief.call(ack(2))
    thief.connection.end()
    let next = lines(of: bench.connect(), subscribe())
    #expect(
      next.first?.contains(#""after":2,"durable":"mailer","new":false,"delivered":3}"#) == true)
  }

  @Test
  func `a new reader begins at the end by default, and keeps that position`() {
    #expect(seqs(lines(of: client, subscribe())) == [])
    client.connection.end()
    let other = bench.connect()
    _ = other.call(#"{"method":"cells.set","params":["a",6]}"#)
    #expect(seqs(lines(of: other, subscribe())) == [7])
  }

  @Test
  func `unacknowledged events are redelivered in order, also after a crash`() throws {
    #expect(seqs(lines(of: client, subscribe(#","from":"start""#))) == [1, 2, 3, 4, 5])
    _ = client.call(ack(2))
    client.send(ack(4))  // not durable when the daemon dies
    let restarted = try Bench(bench.store)
    #expect(seqs(lines(of: restarted.connect(), subscribe())) == [3, 4, 5])
  }

  @Test
  func `snapshots contain the positions of readers`() throws {
    _ = lines(of: client, subscribe(#","from":"start""#))
    _ = client.call(ack(3))
    bench.host.saveSnapshots()
    #expect(
      bench.store.snapshot(of: "readers")?.data
        == #"{"positions":{"readers/mailer":3},"makers":{"readers/mailer":1000}}"#
    )
    let restarted = try Bench(bench.store)
    #expect(seqs(lines(of: restarted.connect(), subscribe())) == [4, 5])
  }

  // MARK: Acknowledging

  @Test
  func `acknowledgements in one turn are one event, hidden from its own reader`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    let last = bench.host.last
    client.send(ack(1, id: 1), ack(3, id: 2), ack(2, id: 3), ack(5, id: 4))
    #expect(client.received().isEmpty, "it is not durable yet")
    #expect(
      client.settle()
        == [(1, 1, 4), (2, 3, 2), (3, 3, 2), (4, 5, 0)].map {
          #"{"jsonrpc":"2.0","id":\#($0),"result":{"sub":"d","seq":\#($1),"unacked":\#($2)}}"#
        })
    #expect(bench.host.last == last + 1)
    let events = client.result(
      #"{"id":1,"method":"history","params":{"source":"events","limit":1}}"#)
    #expect(
      events?["items"]?.text.text.contains(#""type":"readers.acked","stream":"readers/mailer""#)
        == true)
    _ = client.call(ack(5))
    #expect(bench.host.last == last + 1, "nothing was new")
  }

  @Test
  func `an acknowledgement causes no event to acknowledge`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    _ = client.call(ack(5))
    bench.time.advance(60_000)
    #expect(client.settle().isEmpty)
    _ = client.call(#"{"method":"cells.set","params":["a",6]}"#)
    let other = lines(
      of: bench.connect(),
      subscribe(#","from":"start","steal":true,"filter":{"types":["readers.*"]}"#))
    #expect(seqs(other) == [6, 7], "who asks for them gets them")
  }

  @Test
  func `answers stay in the order of their requests`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    client.send(ack(1), #"{"id":3,"method":"get","params":["readers/mailer"]}"#, ack(2, id: 4))
    let lines = client.settle()
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""id":2"#))
    #expect(lines[1].contains(#""id":3"#) && lines[1].contains(#""value":{"seq":1}"#))
    #expect(lines[2].contains(#""id":4"#))
    client.send("[" + ack(3) + #",{"id":3,"method":"ping"},"# + ack(4, id: 4) + "]")
    #expect(client.received().isEmpty)
    let batch = client.settle()
    #expect(batch.count == 1)
    #expect(batch[0].contains(#""seq":3"#) && batch[0].contains(#""seq":4"#))
  }

  @Test
  func `a reader forgotten in the turn of its acknowledgement does not affect others`() {
    let other = bench.connect()
    _ = lines(of: client, subscribe(#","from":"start""#))
    _ = lines(
      of: other,
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"o","durable":"other","from":"start"}}"#
    )
    client.send(ack(1), #"{"id":3,"method":"readers.remove","params":{"name":"mailer"}}"#)
    other.send(ack(3, sub: "o"))
    #expect(client.settle().count { $0.contains(#""result""#) } == 2)
    #expect(other.settle().map { $0.contains(#""sub":"o","seq":3,"#) } == [true])
    #expect(position() == nil)
    #expect(position("other") == at(3))
  }

  @Test
  func `requests after the creation of a reader wait for it`() {
    client.send(
      subscribe(#","from":"start""#), #"{"id":2,"method":"unsubscribe","params":["d"]}"#,
      #"{"id":3,"method":"subscribe","params":{"source":"cells/a","sub":"d"}}"#, subscribe())
    let answers = client.settle()
    #expect(answers.first?.contains(#""new":true"#) == true)
    let end = answers.firstIndex { $0.contains(#""was":"active""#) } ?? 0
    #expect(end > 0)
    #expect(answers[end + 1].contains(#""id":3,"result""#))
    #expect(answers[end + 2].contains(#""name":"already_exists""#))
    #expect(answers.count == end + 3, "no frame follows the end")
  }

  @Test
  func `a refused subscription does not create a reader`() {
    client.send(
      #"{"id":3,"method":"subscribe","params":{"source":"cells/a","sub":"d"}}"#,
      subscribe(#","from":{"time":"2026-01-01T00:00Z"}"#))
    #expect(client.settle().count { $0.contains(#""name":"already_exists""#) } == 1)
    #expect(position() == nil)
  }

  @Test
  func `an invalid acknowledgement is refused with the reason`() {
    _ = lines(of: client, subscribe(#","from":"start","max_unacked":3"#))
    _ = client.call(#"{"id":1,"method":"subscribe","params":{"source":"events","sub":"plain"}}"#)
    let never = client.error(ack(4))
    #expect(never?.name == .invalidParams)
    #expect(never?.data["path"] == .string("/seq"))
    #expect(never?.data["expected"] == .string("at most 3, the last that was sent"))
    #expect(client.error(ack(1, sub: "plain"))?.data["path"] == .string("/sub"))
    #expect(client.error(ack(1, sub: "nobody"))?.name == .notFound)
    #expect(client.error(ack(1, sub: "nobody"))?.data["what"] == .string("subscription"))
    #expect(client.error(ack(-1))?.name == .invalidParams)
    #expect(position() == at(0))
  }

  @Test
  func `an acknowledgement that cannot be recorded is refused`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    client.send(ack(3))
    #expect(client.received().isEmpty)
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(client.received().map { $0.contains("ENOSPC") } == [true])
    client.send(ack(4), #"{"id":5,"method":"readers.remove","params":["mailer"]}"#)
    let lines = client.settle()
    #expect(lines.count == 3)
    #expect(lines[0].contains(#""id":2"#) && lines[0].contains(#""seq":4"#), "it was there then")
    #expect(lines[1].contains(#""id":5,"result":{"value":0"#))
  }

  @Test
  func `a refused acknowledgement does not affect other clients`() {
    for i in 0..<12 {
      _ = client.call(#"{"id":9,"method":"cells.set","params":["x",\#(i)]}"#)
    }
    let (before, behind) = (bench.connect(uid: 7), bench.connect(uid: 9))
    for (other, name) in [(before, "able"), (behind, "zeta")] {
      _ = lines(
        of: other,
        #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"o","durable":"\#(name)","from":"start"}}"#
      )
    }
    _ = lines(of: client, subscribe(#","from":"start""#))
    // The value grows by a digit, and its writer is charged: there is no room.
    let thief = bench.connect(uid: 8)
    _ = lines(of: thief, subscribe(#","steal":true"#))
    bench.host.quota = StateQuota(ofUser: 50)
    before.send(ack(1, sub: "o"))
    thief.send(ack(12))
    behind.send(ack(3, sub: "o"))
    #expect(before.settle().map { $0.contains(#""seq":1,"#) } == [true])
    #expect(thief.settle().map { $0.contains(#""name":"limit_reached""#) } == [true])
    #expect(behind.settle().map { $0.contains(#""seq":3,"#) } == [true])
    _ = client.settle()
    #expect(position("able") == at(1))
    #expect(position() == at(0))
    #expect(position("zeta") == at(3))
  }

  // MARK: Pausing

  @Test
  func `a reader pauses at its limit of unacknowledged events, and resumes on acknowledgement`() {
    let first = lines(of: client, subscribe(#","from":"start","max_unacked":2"#))
    #expect(seqs(first) == [1, 2])
    #expect(first.last == paused(2))
    #expect(client.settle().isEmpty, "one notification")
    let more = lines(of: client, ack(1))
    #expect(seqs(more) == [3])
    #expect(more.contains(paused(2)))
    let end = lines(of: client, ack(3))
    #expect(seqs(end) == [4, 5])
    #expect(end.contains(#"{"jsonrpc":"2.0","method":"caught_up","params":{"sub":"d","seq":7}}"#))
    _ = client.call(ack(5))
    for value in 6...8 { client.send(#"{"method":"cells.set","params":["a",\#(value)]}"#) }
    let live = client.settle()
    #expect(seqs(live) == [10, 11])
    #expect(live.last == paused(2))
    #expect(seqs(lines(of: client, ack(11))) == [12])
  }

  @Test
  func `a paused reader does not delay sync`() {
    _ = lines(of: client, subscribe(#","from":"start","max_unacked":2"#))
    #expect(client.result(#"{"id":9,"method":"sync"}"#)?["seq"] == .number(JSONNumber(6)))
  }

  // MARK: Other rights

  @Test
  func `a client without write access cannot forget a reader, nor learn whether it exists`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    let other = bench.connect(as: Role.made("other", read: ["cells/**"], write: ["cells/**"]))
    for name in ["mailer", "nobody"] {
      let error = other.error(#"{"id":1,"method":"readers.remove","params":["\#(name)"]}"#)
      #expect(error?.name == .notFound)
      #expect(error?.data["what"] == .string("source"))
    }
    #expect(client.settle().isEmpty)
  }

  @Test
  func `a rolled-back atomic forgets no reader`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    let other = bench.connect()
    let calls =
      #"[{"method":"readers.remove","params":["mailer"]},{"method":"cells.toggle","params":["a"]}]"#
    #expect(
      other.error(#"{"id":1,"method":"atomic","params":{"calls":\#(calls)}}"#)?.name == .rejected)
    #expect(client.settle().isEmpty)
    #expect(other.call(ack(1)).contains("not_found"))
    #expect(client.call(ack(1)).contains(#""seq":1"#))
  }

  @Test
  func `an acknowledgement is recorded even if its client gets other rights in the same turn`() {
    let before = Role.made("before", read: ["**"], write: ["**"])
    let after = Role.made("after", read: ["cells/**"], write: ["cells/**"])
    let reader = bench.connect(as: before)
    _ = lines(of: reader, subscribe(#","from":"start""#))
    reader.send(ack(2))
    bindConnection(
      reader.connection, to: bench.rights[after], before: bench.rights[before])
    bench.rights.keep(only: [after, .owner])
    let told = reader.settle()
    #expect(told.contains { $0.contains(#""id":2,"result""#) }, "\(told)")
    #expect(position() == at(2))
  }

  @Test
  func `a client that loses write access to a reader cannot acknowledge for it`() {
    let before = Role.made("before", read: ["**"], write: ["**"])
    let after = Role.made("after", read: ["**"], write: ["cells/**"])
    let reader = bench.connect(as: before)
    _ = lines(of: reader, subscribe(#","from":"start""#))
    bindConnection(
      reader.connection, to: bench.rights[after], before: bench.rights[before])
    bench.rights.keep(only: [after, .owner])
    #expect(reader.settle().isEmpty, "it goes on reading")
    let last = bench.host.last
    let error = reader.error(ack(3))
    #expect(error?.name == .permissionDenied)
    #expect(error?.data["need"] == .string("write readers/mailer"))
    #expect(bench.host.last == last)
    #expect(position() == at(0))
  }

  @Test(arguments: [#""sub":"d""#, #""sub":"d","durable":"new""#])
  func `a delayed subscription respects a new role`(
    rest: String
  ) {
    let before = Role.made("before", read: ["**"], write: ["**"])
    let after = Role.made("after", read: ["cells/b"], write: ["**"])
    let reader = bench.connect(as: before)
    reader.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","from":{"time":"2020-01-01T00:00:00Z"},\#(rest)}}"#
    )
    #expect(reader.received().isEmpty)
    bindConnection(
      reader.connection, to: bench.rights[after], before: bench.rights[before])
    bench.rights.keep(only: [after, .owner])
    let told = reader.settle()
    #expect(told.map { $0.contains("permission_denied") } == [true], "\(told)")
    _ = client.call(#"{"method":"cells.set","params":["a",9]}"#)
    #expect(reader.settle().isEmpty)
  }

  // MARK: Ownership

  @Test
  func `a reader has one owner, who is notified when another takes it`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    let other = bench.connect()
    let error = other.error(subscribe())
    #expect(error?.name == .alreadyExists)
    #expect(error?.data["what"] == .string("reader"))
    #expect(error?.data["id"] == .string("mailer"))
    #expect(other.error(subscribe(#","steal":false"#))?.name == .alreadyExists)

    #expect(seqs(lines(of: other, subscribe(#","steal":true"#))) == [1, 2, 3, 4, 5])
    #expect(
      client.settle()
        == [#"{"jsonrpc":"2.0","method":"closed","params":{"sub":"d","reason":"stolen"}}"#])
    #expect(client.connection.subscriptions.isEmpty)
    #expect(client.error(ack(1))?.name == .notFound)
    _ = other.call(#"{"id":1,"method":"unsubscribe","params":["d"]}"#)
    #expect(client.error(subscribe()) == nil, "nobody holds it any more")
  }

  @Test
  func `only one of two simultaneous clients gets a new reader`() {
    let other = bench.connect()
    client.send(subscribe(#","from":"start""#))
    other.send(subscribe())
    #expect(seqs(client.settle()) == [1, 2, 3, 4, 5])
    #expect(other.settle().map { $0.contains("already_exists") } == [true])
  }

  @Test
  func `a forgotten reader ends, and starts again as a new one`() {
    _ = lines(of: client, subscribe(#","from":"start""#))
    #expect(
      client.result(#"{"id":3,"method":"readers.remove","params":{"name":"mailer"}}"#)?["value"]
        == nil, "another line came as well")
    _ = client.settle()
    #expect(position() == nil)
    #expect(seqs(lines(of: client, subscribe(#","from":{"last":3}"#))) == [5])
    #expect(
      client.error(#"{"id":3,"method":"readers.remove","params":["nobody"]}"#)?.name == .notFound)
  }

  @Test(arguments: [
    (#"{"source":"cells/a","durable":"x"}"#, "/durable"),
    (#"{"source":"cells/a","mode":"every","durable":"x"}"#, "/durable"),
    (#"{"source":"events","durable":""}"#, "/durable"),
    (#"{"source":"events","durable":"a/b"}"#, "/durable"),
    (#"{"source":"events","durable":"x","max_unacked":0}"#, "/max_unacked"),
    (#"{"source":"events","durable":"x","max_unacked":10001}"#, "/max_unacked"),
    (#"{"source":"events","durable":"x","mode":"every"}"#, "/mode"),
    (#"{"source":"events","max_unacked":5}"#, "/max_unacked"),
    (#"{"source":"events","steal":true}"#, "/steal"),
    (#"{"source":"cells/a","steal":true}"#, "/steal"),
    (#"{"source":"events","durable":"x","from":7}"#, "/from"),
  ])
  func `invalid options of a durable reader are refused with their place`(
    params: String, path: String
  ) {
    let error = client.error(#"{"id":1,"method":"subscribe","params":\#(params)}"#)
    #expect(error?.name == .invalidParams)
    #expect(error?.data["path"] == .string(path))
    #expect(client.connection.subscriptions.isEmpty)
  }
}
