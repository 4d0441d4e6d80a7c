import Apps
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

/// The remembered commands with an idempotency key.
@Suite(.leavesNothing)
struct CommandWindowTests {
  let bench: Bench

  init() throws {
    bench = try Bench()
  }

  // MARK: Commands that record nothing

  @Test
  func `a repeated command without events gets its first answer`() throws {
    let first = try bench.run("c-1") { JSONText(try bench.cells.remove("q")) }
    #expect(first == Accepted(value: JSONText(false)))
    try bench.set("q", "5")
    bench.store.commit()
    let again = try bench.run("c-1") { JSONText(try bench.cells.remove("q")) }
    #expect(again == Accepted(value: JSONText(false), isReplayed: true))
    #expect(bench.cells.ledger.pendingValue(of: "cells/q")?.text == "5")
  }

  @Test
  func `a command without events is forgotten at a restart, with or without a snapshot`() throws {
    try bench.run("c-1") { JSONText(try bench.cells.remove("q")) }
    try bench.set("q", "5")
    bench.store.commit()
    #expect(try !Bench(bench.store).run("c-1") { nil }.isReplayed)
    bench.host.saveSnapshots()
    #expect(bench.store.snapshot(of: "journal")?.seq == 1)
    #expect(try !Bench(bench.store).run("c-1") { nil }.isReplayed)
  }

  @Test
  func `a command that depends on a lost write is forgotten with it`() throws {
    try bench.set("q", "5")
    try bench.run("c-1") { nil }
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    #expect(try !bench.run("c-1") { try bench.tally.add(2) }.isReplayed)
  }

  @Test
  func `a command with a long answer and no events is not remembered`() throws {
    let long = JSONText(string: String(repeating: "x", count: 300))
    try bench.run("c-1") { long }
    #expect(try !bench.run("c-1") { long }.isReplayed)
  }

  // MARK: Long answers

  @Test
  func `long answers are not kept in memory`() throws {
    let long = JSONText(string: String(repeating: "x", count: 10_000))
    for i in 0..<50 {
      try bench.run("c-\(i)", parameters: "\(i)") { try bench.cells.set("a", to: long) }
      bench.store.commit()
    }
    bench.host.saveSnapshots()
    let kept = try #require(bench.store.snapshot(of: "journal")).data.utf8.count
    #expect(kept < 50 * 300)
    let reborn = try Bench(bench.store)
    #expect(try reborn.run("c-7", parameters: "7") { nil }.seq == 8)
  }

  // MARK: Users

  @Test
  func `100,000 commands of a user evict only that user's oldest`() throws {
    try bench.run("pay-1", by: 1) { try bench.tally.add(10) }
    for i in 0...100_000 { try bench.run("c-\(i)", by: 2) { nil } }
    #expect(try bench.run("pay-1", by: 1) { try bench.tally.add(10) }.isReplayed)
    #expect(bench.tally.ledger.pending.total == 10)
    #expect(try bench.run("c-1", by: 2) { nil }.isReplayed)
    #expect(try !bench.run("c-0", by: 2) { nil }.isReplayed, "the oldest of too many has gone")
    // The total is limited too: users with the most commands lose their oldest.
    for i in 0..<100_000 { try bench.run("c-\(i)", by: 3) { nil } }
    #expect(try bench.run("pay-1", by: 1) { try bench.tally.add(10) }.isReplayed)
    #expect(try !bench.run("c-3", by: 2) { nil }.isReplayed)
    #expect(try bench.run("c-99999", by: 2) { nil }.isReplayed)
    #expect(try bench.run("c-99999", by: 3) { nil }.isReplayed)
  }

  @Test
  func `10,000 refusals of a user do not evict those of another`() throws {
    try bench.run { try bench.tally.add(90) }
    #expect(throws: Refusal.self) { try bench.run("c", by: 1) { try bench.tally.add(20) } }
    for i in 0..<10_001 {
      #expect(throws: Refusal.self) { try bench.run("c-\(i)", by: 2) { try bench.tally.add(20) } }
    }
    try bench.run {
      bench.tally.ledger.record(.reset)
      return nil
    }
    #expect(throws: Refusal.self) { try bench.run("c", by: 1) { try bench.tally.add(20) } }
    #expect(bench.tally.ledger.pending.total == 0)
  }

  @Test
  func `a command older than a day is forgotten at the next command of any user`() throws {
    let store = MemoryStore { [clock] in clock.now }
    let bench = try Bench(store)
    try bench.run("old", by: 1) { try bench.tally.add(1) }
    try bench.run("young", by: 2) { try bench.tally.add(1) }
    clock.now += 86_400_000_000 + 1
    try bench.run("new", by: 3) { try bench.tally.add(1) }
    #expect(try !bench.run("old", by: 1) { try bench.tally.add(1) }.isReplayed)
    #expect(try !bench.run("young", by: 2) { try bench.tally.add(1) }.isReplayed)
    #expect(try bench.run("new", by: 3) { try bench.tally.add(1) }.isReplayed)
  }

  private final class Clock {
    var now: Int64 = 1_000_000_000
  }

  private let clock = Clock()

  @Test
  func `a snapshot contains the commands of each user`() throws {
    for uid: UInt32 in [0, 7, .max] {
      try bench.run("c", by: uid) { try bench.tally.add(1) }
      try bench.run("d \(uid)", by: uid) {
        _ = try bench.tally.add(1)
        return nil
      }
    }
    bench.store.commit()
    bench.host.saveSnapshots()
    let reborn = try Bench(bench.store)
    #expect(bench.store.snapshot(of: "journal")?.seq == 6)
    for (uid, total) in [(UInt32(0), 1), (7, 3), (.max, 5)] {
      let again = try reborn.run("c", by: uid) { nil }
      #expect(again.isReplayed)
      #expect(again.value?.text == "\(total)")
      let other = try reborn.run("d \(uid)", by: uid) { nil }
      #expect(other.isReplayed)
      #expect(other.value == nil)
    }
    #expect(try !reborn.run("c", by: 8) { nil }.isReplayed)
  }

  // MARK: Invalid snapshots

  @Test(
    arguments: [
      #""window":[]"#, #""window":{"x":[]}"#, #""window":{"0":5}"#, #""window":{"0":[["c",1]]}"#,
      #""window":{"0":[["c",1,1,1,"zz"]]}"#, #""window":{"0":[["c",1,1,1,"a",null,false]]}"#,
      #""heads":5"#, #""heads":{"tally":"x"}"#, #""heads":{"tally":[0,0]}"#,
      #""heads":{"tally":[1]}"#, #""other":{}"#,
    ])
  func `an unreadable snapshot is ignored as a whole`(part: String) throws {
    try bench.run("c-1") { try bench.tally.add(2) }
    bench.store.commit()
    bench.host.saveSnapshots()
    let good = try #require(bench.store.snapshot(of: "journal"))
    guard case .object(var object) = JSONText(trusted: good.data).value,
      case .object(let bad) = try JSONValue(parsing: "{\(part)}")
    else { return }
    try bench.set("q", "5")
    bench.store.commit()
    if part.contains("other") { object["window"] = nil }
    for member in bad.members { object[member.name] = member.value }
    bench.store.save(
      Snapshot(
        service: "journal", seq: 2, schema: good.schema,
        data: JSONValue.object(object).text.text))
    let reborn = try Bench(bench.store)
    #expect(reborn.host.version(of: "tally") == 1)
    #expect(try reborn.run("c-1") { try reborn.tally.add(2) }.isReplayed)
  }

  @Test
  func `a refused command stays refused under its idempotency key`() throws {
    let bench = try Bench()
    try bench.run { try bench.tally.add(90) }
    let refused = { try bench.run("c-1", parameters: "20") { try bench.tally.add(20) } }
    #expect(throws: Refusal.self) { try refused() }
    try bench.run {
      bench.tally.ledger.record(.reset)
      return nil
    }
    #expect(throws: Refusal.self, "the client already has a refusal") { try refused() }
    #expect(bench.tally.ledger.pending.total == 0)
    #expect(throws: Refusal.self, "another command is not that one") {
      try bench.run("c-1", parameters: "30") { try bench.tally.add(30) }
    }
    #expect(bench.tally.ledger.pending.total == 0)
  }
}
