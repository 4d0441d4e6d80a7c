import EventLoop
import Journal
import JournalPostgres
import Model
import Signals
import Testing

/// Messages between daemons, as notifications of the database.
@Suite(.needsPostgres)
struct PostgresMailTests {
  private let cluster: PostgresCluster
  private let first: PostgresTrial
  private let second: PostgresTrial
  private let inbox = Inbox()

  /// The messages that a daemon has received.
  private final class Inbox {
    var messages: [String] = []
    var senders: Set<String> = []
    var losses = 0
    let bag = DisposeBag()

    func watch(_ mail: any DaemonMail) {
      mail.received.observeNext { [unowned self] in
        messages.append($0.message)
        senders.insert($0.address)
      }
      .dispose(in: bag)
      mail.lost.observeNext { [unowned self] in losses += 1 }.dispose(in: bag)
    }
  }

  init() throws {
    cluster = try PostgresCluster()
    first = try cluster.add("a")
    try cluster.run { [first] in first.store.isActive }
    second = try cluster.add("b")
    try cluster.run { [second] in second.store.isFollowing && second.store.mail?.active != nil }
    inbox.watch(try #require(first.store.mail))
  }

  /// Sends messages to the active daemon.
  private func send(_ messages: [String]) throws {
    let mail = try #require(second.store.mail)
    for message in messages { mail.send(message, to: try #require(mail.active)) }
    second.store.submit()
  }

  @Test
  func `messages arrive whole and in order, however long they are`() throws {
    let long = String(repeating: "ä€𝄞\"x ", count: 30_000)
    let wanted = (1...50).map { "message \($0)" } + [long, " ", "the last one"]
    try send(wanted)
    try cluster.run { [inbox] in inbox.messages.count == wanted.count }
    #expect(inbox.messages == wanted)
    #expect(inbox.senders.count == 1)
    #expect(inbox.losses == 0)
  }

  @Test
  func `a daemon that was away hears that it may have missed messages`() throws {
    try send(["before"])
    try cluster.run { [inbox] in inbox.messages == ["before"] }
    try cluster.endSessions()
    try cluster.run { [inbox, second] in inbox.losses > 0 && second.store.mail?.active != nil }
    try send(["after"])
    try cluster.run { [inbox] in inbox.messages == ["before", "after"] }
  }

  @Test
  func `a missing part of a message is noticed, and the next message arrives`() throws {
    try send(["one"])
    try cluster.run { [inbox] in inbox.messages == ["one"] }
    let address = try #require(first.store.mail?.active)
    let sender = try #require(inbox.senders.first)
    // Number 2 begins a message, and number 3 with its end is missing.
    try cluster.sql(
      """
      SELECT pg_notify('binder_\(address)', '\(sender) 2 1 half of a mess');
      SELECT pg_notify('binder_\(address)', '\(sender) 4 0 ' || E'age\\n');
      SELECT pg_notify('binder_\(address)', '\(sender) 5 1 ' || E'whole\\n');
      """)
    try cluster.run { [inbox] in inbox.messages.count == 2 }
    #expect(inbox.messages == ["one", "whole"])
    #expect(inbox.losses == 1)
  }

  @Test
  func `numbers in forged notifications do no harm`() throws {
    let address = try #require(first.store.mail?.active)
    let sender = String(repeating: "f", count: 32)
    for number in [Int.max, Int.max, Int.min, -1, 0, Int.max - 1, Int.max - 1] {
      try cluster.sql(
        "SELECT pg_notify('binder_\(address)', '\(sender) \(number) 1 ' || E'forged\\n')")
      try cluster.sql(
        "SELECT pg_notify('binder_\(address)', '\(sender) \(number) 0 ' || E'forged\\n')")
    }
    try cluster.sql("SELECT pg_notify('binder', '\(Int.max)')")
    try send(["after"])
    try cluster.run { [inbox] in inbox.messages.contains("after") }
    #expect(first.store.isActive)
  }

  @Test
  func `a position that the journal does not have is not believed`() throws {
    var reasons: [String] = []
    second.store.onInterruption = { if let reason = $0 { reasons.append(reason) } }
    for position in ["9223372036854775807", "18446744073709551615", "7"] {
      try cluster.sql("SELECT pg_notify('binder', '\(position)')")
    }
    _ = try first.store.append([draft("s", "1")])
    first.store.submit()
    try cluster.run { [second] in second.store.durable == 1 }
    try cluster.run(milliseconds: 200)
    #expect(reasons.isEmpty)
    #expect(second.store.interruption == nil)
  }

  @Test
  func `messages that the server refuses are not repeated at once`() throws {
    let mail = try #require(first.store.mail)
    // A channel has at most 63 bytes.
    let address = String(repeating: "a", count: 70)
    let send = { [first] in
      mail.send("again", to: address)
      first.store.submit()
    }
    mail.lost.observeNext { send() }.dispose(in: inbox.bag)
    let start = Process.milliseconds
    send()
    try cluster.run { [inbox] in inbox.losses >= 3 }
    // After 100, 300 and 700 ms.
    #expect(Process.milliseconds - start >= 500)
  }

  @Test
  func `the daemons that live are known, with what each has applied`() throws {
    _ = try first.store.append([draft("s", "1")])
    first.store.submit()
    try cluster.run { [cluster] in
      cluster.trials.allSatisfy { trial in
        trial.store.nodes.map(\.name) == ["a", "b"]
          && trial.store.nodes.allSatisfy { $0.position == 1 && $0.isAlive }
      }
    }
    #expect(first.store.nodes.map(\.state) == ["active", "following"])
    #expect(Set(first.store.nodes.map(\.boot)).count == 2)
  }
}
