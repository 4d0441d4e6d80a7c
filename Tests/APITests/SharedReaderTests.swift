import API
import BinderTesting
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Testing
import Wire

/// Several workers share the events of one durable reader.
@Suite(.leavesNothing)
struct SharedReaderTests {
  let bench: Bench
  let client: TestClient

  init() throws {
    bench = try Bench()
    client = bench.connect()
  }

  private func subscribe(_ more: String = "") -> String {
    #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"w","durable":"jobs","share":true,"from":"start","filter":{"streams":["cells/**"]}\#(more)}}"#
  }

  /// Returns a worker that has subscribed.
  private func worker(_ more: String = "", _ bench: Bench? = nil) -> TestClient {
    let worker = (bench ?? self.bench).connect()
    worker.send(subscribe(more))
    return worker
  }

  private func add(_ count: Int) {
    for i in 0..<count { _ = client.call(#"{"id":1,"method":"cells.set","params":["j",\#(i)]}"#) }
  }

  /// Returns the positions of the events in lines, with the number of the delivery if it is not 1.
  private func events(_ lines: [String]) -> [String] {
    lines.compactMap { line in
      guard case .object(let frame)? = try? JSONValue(parsing: line),
        frame["method"] == .string("next"), case .object(let params)? = frame["params"]
      else { return nil }
      let delivery = params["delivery"].map { "x\($0.text.text)" } ?? ""
      return "\(params["seq"]?.text.text ?? "?")\(delivery)"
    }
  }

  private func ack(_ worker: TestClient, _ seq: Int) -> [String] {
    worker.send(#"{"id":5,"method":"ack","params":{"sub":"w","seq":\#(seq)}}"#)
    return worker.settle()
  }

  private func nack(_ worker: TestClient, _ seq: Int, _ more: String = "") -> [String] {
    worker.send(#"{"id":5,"method":"nack","params":{"sub":"w","seq":\#(seq)\#(more)}}"#)
    return worker.settle()
  }

  private func reader(_ bench: Bench? = nil) -> String? {
    (bench?.connect() ?? client).result(#"{"id":1,"method":"get","params":["readers/jobs"]}"#)?[
      "value"]?.text.text
  }

  /// The position up to which everything is finished.
  private func position() -> Int {
    let value = client.result(#"{"id":1,"method":"get","params":["readers/jobs"]}"#)?["value"]
    guard case .object(let value)? = value, case .number(let seq)? = value["seq"] else { return -1 }
    return Int(seq.text) ?? -1
  }

  @Test
  func `the figures of a reader say what waits, and who has how many events`() {
    func figures() -> ReaderFigures? { bench.readers?.figures.first }
    #expect(bench.readers?.figures.isEmpty == true)
    let one = worker(#","max_unacked":2"#)
    _ = one.settle()
    add(5)
    _ = one.settle()
    #expect(figures()?.reader == "jobs")
    #expect(figures()?.workers == 1 && figures()?.held == true)
    #expect(figures()?.inHand == 2 && figures()?.waiting == 3)
    let two = worker(#","max_unacked":1"#)
    _ = two.settle()
    #expect(figures()?.workers == 2)
    #expect(figures()?.inHand == 3 && figures()?.waiting == 2)
    let behind = figures()?.behind ?? 0
    #expect(behind >= 5)
    for client in [one, two] {
      _ = client.call(#"{"id":9,"method":"unsubscribe","params":{"sub":"w"}}"#)
    }
    #expect(figures()?.held == false && figures()?.workers == nil)
    #expect(figures()?.behind == behind)
  }

  @Test
  func `get has the figures of the moment beside the value of a reader`() {
    func now(_ rest: String = "") -> String? {
      client.result(#"{"id":1,"method":"get","params":{"source":"readers/jobs"\#(rest)}}"#)?["now"]?
        .text.text
    }
    let one = worker(#","max_unacked":2"#)
    _ = one.settle()
    add(5)
    _ = one.settle()
    // The reader began before its own event.
    #expect(now() == #"{"behind":6,"held":true,"workers":1,"in_hand":2,"waiting":3}"#)
    #expect(now(#","pick":"/seq""#) == nil)
    one.disconnect()
    #expect(now() == #"{"behind":6,"held":false}"#)
    let waited = client.result(#"{"id":2,"method":"wait","params":{"source":"readers/jobs"}}"#)
    #expect(waited?["value"] != nil && waited?["now"] == nil)
    // What the workers of another daemon have is not known here.
    bench.store.follow(MemoryStore(epoch: "7f3a9c52"))
    #expect(now() == nil && reader() != nil)
  }

  @Test
  func `a reader in use that was sent all it wants has nothing before it`() {
    let reader = bench.connect()
    reader.send(
      #"{"id":1,"method":"subscribe","params":{"source":"events","sub":"d","durable":"jobs","max_unacked":1,"filter":{"streams":["cells/wanted"]}}}"#
    )
    _ = reader.settle()
    func now() -> String? {
      client.result(#"{"id":1,"method":"get","params":["readers/jobs"]}"#)?["now"]?.text.text
    }
    add(3)
    _ = reader.settle()
    #expect(now() == #"{"behind":4,"held":true,"in_hand":0}"#, "it wants none of them")
    for i in 1...2 {
      _ = client.call(#"{"id":1,"method":"cells.set","params":["wanted",\#(i)]}"#)
    }
    _ = reader.settle()
    #expect(now() == #"{"behind":6,"held":true,"in_hand":1,"more":true}"#)
    reader.send(#"{"id":2,"method":"ack","params":{"sub":"d","seq":5}}"#)
    _ = reader.settle()
    #expect(now()?.hasSuffix(#""held":true,"in_hand":1}"#) == true)
  }

  @Test
  func `each event goes to one worker, and its ack brings the next`() {
    add(4)
    let (a, b) = (worker(), worker())
    let lines = a.settle()
    #expect(lines.first?.contains(#""durable":"jobs","new":true,"share":true"#) == true)
    #expect(events(lines) == ["1"])
    #expect(events(b.settle()) == ["2"])
    let answer = ack(b, 2)
    #expect(answer.first == #"{"jsonrpc":"2.0","id":5,"result":{"sub":"w","seq":2,"unacked":1}}"#)
    #expect(events(answer) == ["3"])
    #expect(reader()?.hasPrefix(#"{"seq":0,"share":true"#) == true, "1 is not finished")
    #expect(events(ack(a, 1)) == ["4"])
    #expect(reader()?.hasPrefix(#"{"seq":2,"#) == true)
    _ = ack(a, 4)
    _ = ack(b, 3)
    #expect(position() >= 4)
    add(1)
    #expect(events(a.settle() + b.settle()).count == 1)
  }

  @Test
  func `max_unacked is the number of events that a worker has`() {
    add(5)
    let a = worker(#","max_unacked":3"#)
    #expect(events(a.settle()) == ["1", "2", "3"])
    #expect(events(ack(a, 2)) == ["4"])
  }

  @Test
  func `27: the events of a worker that dies go to others at once`() {
    add(3)
    let a = worker(#","max_unacked":2"#)
    #expect(events(a.settle()) == ["1", "2"])
    let b = worker()
    #expect(events(b.settle()) == ["3"])
    a.disconnect()
    #expect(events(b.settle()).isEmpty, "it has one already")
    #expect(events(ack(b, 3)) == ["1x2"], "it worked on the first")
    #expect(events(ack(b, 1)) == ["2"], "and had not begun the second")
    _ = ack(b, 2)
    #expect(position() >= 3)
  }

  @Test
  func `27: an event that is not acknowledged in time is delivered again, then parked`() {
    add(1)
    let a = worker(#","ack_wait_ms":1000,"max_deliveries":2"#)
    #expect(events(a.settle()) == ["1"])
    bench.time.advance(999)
    #expect(events(a.settle()).isEmpty)
    bench.time.advance(1)
    #expect(events(a.settle()) == ["1x2"])
    bench.time.advance(500)
    _ = a.call(#"{"id":6,"method":"working","params":{"sub":"w","seq":1}}"#)
    bench.time.advance(999)
    #expect(reader()?.contains(#""parked_count":0"#) == true, "it said that it works")
    bench.time.advance(1)
    #expect(events(a.settle()).isEmpty)
    let value = reader()
    #expect(
      value?.contains(
        #""parked":[{"seq":1,"reason":"not acknowledged within 1000 ms","deliveries":2,"#) == true)
    #expect(position() >= 1)
    // Too late.
    #expect(ack(a, 1).first?.contains(#""name":"not_found""#) == true)
  }

  @Test
  func `27: an event given back is delivered again after its pause, then parked`() {
    add(2)
    let a = worker(#","max_deliveries":2"#)
    #expect(events(a.settle()) == ["1"])
    #expect(events(nack(a, 1, #","delay_ms":500"#)) == ["2"])
    _ = ack(a, 2)
    bench.time.advance(500)
    #expect(events(a.settle()) == ["1x2"])
    let answer = nack(a, 1, #","reason":"no paper""#)
    #expect(answer.first?.contains(#""parked":true"#) == true)
    #expect(reader()?.contains(#""seq":1,"reason":"no paper","deliveries":2"#) == true)
    let retry = #"{"id":1,"method":"readers.retry","params":["jobs"]}"#
    #expect(client.result(retry)?["value"] == .number(JSONNumber(1)))
    #expect(events(a.settle()) == ["1"], "deliveries count from 1 again")
    #expect(client.error(retry)?.data["reason"] == .string("not_parked"))
    _ = nack(a, 1)
    _ = nack(a, 1, #","reason":"still none""#)
    #expect(
      client.result(#"{"id":1,"method":"readers.drop","params":["jobs",1]}"#)?["value"]
        == .number(JSONNumber(1)))
    #expect(reader()?.contains(#""parked_count":0"#) == true)
    add(1)
    #expect(!events(a.settle()).isEmpty)
  }

  @Test
  func `after a restart only what is not finished is delivered`() throws {
    add(5)
    let a = worker(#","max_unacked":4,"max_deliveries":1"#)
    #expect(events(a.settle()) == ["1", "2", "3", "4"])
    _ = ack(a, 3)
    _ = nack(a, 2)
    _ = ack(a, 4)
    let again = try Bench(bench.store)
    let b = worker(#","max_unacked":9"#, again)
    #expect(events(b.settle()) == ["1", "5"])
    b.send(#"{"id":1,"method":"readers.retry","params":["jobs"]}"#)
    #expect(events(b.settle()) == ["2"])
    _ = ack(b, 1)
    _ = ack(b, 5)
    #expect(reader(again)?.contains(#""parked_count":0"#) == true)
    let last = try Bench(again.store)
    #expect(events(worker("", last).settle()) == ["2"], "it was retried, and not finished")
  }

  @Test
  func `a retried event that is finished is not delivered after a restart`() throws {
    add(3)
    let a = worker(#","max_unacked":4,"max_deliveries":1"#)
    _ = a.settle()
    _ = nack(a, 2)
    a.send(#"{"id":1,"method":"readers.retry","params":["jobs"]}"#)
    #expect(events(a.settle()) == ["2"])
    _ = ack(a, 2)
    let again = try Bench(bench.store)
    #expect(events(worker(#","max_unacked":4"#, again).settle()) == ["1", "3"])
  }

  @Test
  func `27: an event too long for a worker is parked, and no other`() {
    add(2)
    let long = String(repeating: "x", count: 100_000)
    _ = client.call(#"{"id":1,"method":"cells.set","params":["j","\#(long)"]}"#)
    let a = worker(#","max_unacked":4"#)
    #expect(a.settle().last?.contains(#""name":"result_too_large""#) == true)
    #expect(reader()?.contains(#""seq":3,"reason":"too long for a line of the worker""#) == true)
    #expect(events(worker(#","max_unacked":4"#).settle()) == ["1", "2"], "nothing counted")
  }

  @Test
  func `27: an ack that the journal loses leaves the event unfinished`() {
    add(1)
    let a = worker()
    #expect(events(a.settle()) == ["1"])
    a.send(#"{"id":5,"method":"ack","params":{"sub":"w","seq":1}}"#)
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(events(a.settle()) == ["1"], "it is delivered again")
    #expect(reader()?.hasPrefix(#"{"seq":0,"#) == true)
    _ = ack(a, 1)
    #expect(position() >= 1)
  }

  @Test
  func `workers with other terms, and other subscriptions, are refused`() {
    _ = worker().settle()
    let other = bench.connect()
    let plain = #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"jobs"}}"#
    #expect(other.error(plain)?.data["path"] == .string("/share"))
    #expect(
      other.error(
        #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"jobs","share":true}}"#
      )?.name == .alreadyExists)
    _ = client.call(
      #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"alone","from":"start"}}"#
    )
    #expect(
      other.error(
        #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"alone","share":true}}"#
      )?.data["path"] == .string("/share"))
    for (more, path) in [
      (#","ack_wait_ms":1"#, "/ack_wait_ms"), (#","max_deliveries":0"#, "/max_deliveries"),
      (#","steal":true"#, "/steal"), (#","in_order":1"#, "/in_order"),
    ] {
      #expect(other.error(subscribe(more))?.data["path"] == .string(path), "\(more)")
    }
    #expect(
      other.error(
        #"{"id":1,"method":"subscribe","params":{"source":"events","durable":"x","ack_wait_ms":1000}}"#
      )?.data["path"] == .string("/ack_wait_ms"))
    #expect(nack(client, 1).first?.contains("subscription") == true)
  }

  @Test
  func `27: in order, each event waits until the one before it is finished or parked`() {
    add(3)
    let a = worker(#","in_order":true,"max_unacked":2,"max_deliveries":2"#)
    let b = worker(#","in_order":true,"max_unacked":2,"max_deliveries":2"#)
    #expect(events(a.settle()) == ["1"])
    #expect(events(b.settle()).isEmpty)
    // It waits for its second delivery, and the others wait for it.
    #expect(events(nack(a, 1, #","delay_ms":1000"#)).isEmpty)
    #expect(events(b.settle()).isEmpty)
    bench.time.advance(1000)
    #expect(events(b.settle()) == ["1x2"], "it is the turn of the other worker")
    #expect(events(a.settle()).isEmpty)
    // It is parked, so the next one is delivered.
    #expect(events(nack(b, 1)).isEmpty)
    #expect(reader()?.contains(#""parked_count":1"#) == true)
    #expect(events(a.settle()) == ["2"])
    // When a worker ends, another one gets its event, and nothing overtakes it.
    a.disconnect()
    #expect(events(b.settle()) == ["2x2"])
    #expect(events(ack(b, 2)) == ["3"])
    _ = ack(b, 3)
    #expect(position() >= 3)
    #expect(bench.connect().error(subscribe(""))?.name == .alreadyExists, "not in order")
  }

  @Test
  func `workers end when their reader is removed`() {
    let a = worker()
    _ = a.settle()
    _ = client.call(#"{"id":1,"method":"readers.remove","params":["jobs"]}"#)
    #expect(a.settle().contains { $0.contains(#""method":"closed""#) && $0.contains("removed") })
    add(1)
    let b = worker()
    #expect(events(b.settle()).count == 1)
  }
}
