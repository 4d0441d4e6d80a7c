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

/// Two daemons over one journal: one records, the other applies its events and takes over.
@Suite(.leavesNothing)
struct FollowingTests {
  private let leader: Bench
  private let follower: Bench

  init() throws {
    leader = try Bench()
    follower = try Bench()
    follower.store.follow(leader.store)
  }

  /// Makes the follower the active daemon.
  private func takeOver() { follower.store.lead(term: 2) }

  @Test
  func `a follower shows the values of the active daemon, and their changes`() throws {
    var changes: [String] = []
    let observation = follower.cells.ledger.changes(of: "cells/a").observeNext {
      changes.append($0.value?.text ?? "gone")
    }
    try leader.set("a", "1")
    #expect(follower.value("cells/a") == nil)
    leader.store.commit()
    try leader.set("a", "2")
    try leader.set("b", "3")
    leader.store.commit()
    #expect(changes == ["1", "2"])
    #expect(follower.value("cells/b") == "3")
    #expect(follower.host.durable == 3)
    #expect(follower.host.last == 3)
    observation.dispose()
  }

  @Test
  func `a follower refuses commands`() throws {
    #expect(throws: Refusal.self) { try follower.set("a", "1") }
    #expect(follower.store.last == 0)
  }

  @Test
  func `a command is not run again after a takeover`() throws {
    let answer = try leader.run("c-1", parameters: "p") { JSONText(7) }
    #expect(answer.seq == nil)
    let first = try leader.run("c-2", parameters: "p") {
      _ = try leader.cells.set("a", to: JSONText(1))
      return JSONText(41)
    }
    leader.store.commit()
    takeOver()
    let again = try follower.run("c-2", parameters: "p") {
      Issue.record("it ran twice")
      return nil
    }
    #expect(again.value == JSONText(41))
    #expect(again.seq == first.seq)
    #expect(again.isReplayed)
    #expect(throws: Refusal.self) {
      try follower.run("c-2", parameters: "other") { nil }
    }
  }

  @Test
  func `a long answer is read from the journal after a takeover`() throws {
    let long = JSONText(string: String(repeating: "x", count: 1000))
    try leader.run("c-1") {
      _ = try leader.cells.set("a", to: JSONText(1))
      return long
    }
    leader.store.commit()
    takeOver()
    let again = try follower.run("c-1") { nil }
    #expect(again.isValueInJournal)
    var value: JSONText?
    let observation = follower.host.finish(again).observe { event in
      if case .next(let done) = event { value = done.value }
    }
    follower.store.read()
    #expect(value == long)
    observation.dispose()
  }

  @Test
  func `streams go on with their versions, and charges are the same`() throws {
    try leader.run(by: 7) {
      for i in 0..<20 {
        _ = try leader.cells.set("c\(i % 5)", to: JSONText(string: "\(i * i * i)"))
      }
      return nil
    }
    try leader.run(by: 8) {
      _ = try leader.cells.remove("c1")
      return nil
    }
    leader.store.commit()
    let (mine, its) = (leader.store, follower.store)
    for name in (0..<5).map({ "cells/c\($0)" }) {
      let heads = [mine, its].map { store in
        store.names.number(of: name).map(store.head(of:))
      }
      #expect(heads[0] == heads[1], "\(name)")
    }
    #expect(mine.usage.total == its.usage.total)
    #expect(mine.usage[user: 7] == its.usage[user: 7])
    takeOver()
    let accepted = try follower.run { try follower.cells.set("c0", to: JSONText(1)) }
    #expect(accepted.seq == 22)
    #expect(accepted.version == 5)
  }

  @Test
  func `an event at the position of a lost own event is not taken for it`() throws {
    try leader.set("a", "1")
    leader.store.commit()
    // Both daemons believe that they are active; the second one is.
    takeOver()
    try leader.set("a", "\"lost\"")
    try follower.set("b", "2")
    follower.store.commit()
    leader.store.follow(follower.store)
    #expect(leader.value("cells/a") == "1")
    #expect(leader.value("cells/b") == "2")
    #expect(leader.cells.ledger.pendingValue(of: "cells/a")?.text == "1")
    #expect(leader.host.durable == 2)
    leader.store.lead(term: 3)
    try leader.set("a", "3")
    leader.store.commit()
    #expect(leader.store.records.map(\.data) == (1...3).map { #"{"value":\#($0)}"# })
  }

  @Test
  func `an event of a service that the follower does not have is skipped`() throws {
    show(Record(seq: 1, "later/x", "later.done", "{}"))
    show(Record(seq: 2, "cells/a", "cells.set", #"{"value":5}"#))
    #expect(follower.value("cells/a") == "5")
    let stream = try #require(follower.store.names.number(of: "later/x"))
    #expect(follower.store.head(of: stream).version == 1)
  }

  @Test(arguments: ["cells.polished", "cells.set@9"])
  func `a follower that does not know an event stops, and says so`(type: String) throws {
    var reason: JournalError?
    let observation = follower.host.failed.observeNext { reason = $0 }
    show(Record(seq: 1, "cells/a", type, #"{"value":5}"#))
    guard case .notUnderstood(1, let detail) = reason else {
      Issue.record("\(reason as Any)")
      return
    }
    #expect(detail.contains("cells."))
    observation.dispose()
  }

  private func show(_ record: Record) { follower.store.show(RecordBatch([record])) }
}

extension Record {
  fileprivate convenience init(seq: UInt64, _ stream: String, _ type: String, _ data: String) {
    self.init(
      seq: seq, time: 1, version: 1, previous: 0, stream: stream, type: type, data: data,
      command: nil, meta: nil)
  }
}
