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

/// A host with cells, a tally and journal compaction, with manual time.
private final class Care {
  let store: MemoryStore
  let host: ServiceHost
  let cells: CellsService
  let tally: TallyService
  let journal: JournalService
  let scheduler = ManualScheduler()

  /// Microseconds since 1970, and milliseconds of a clock that does not jump.
  var wall: Int64
  var milliseconds: UInt64 = 0
  var boot: String
  var isSynchronized = false

  static let day: Int64 = 86_400_000_000

  init(
    _ store: MemoryStore? = nil, wall: Int64 = 1_000 * day, milliseconds: UInt64 = 0,
    boot: String = "first"
  ) throws {
    (self.wall, self.milliseconds, self.boot) = (wall, milliseconds, boot)
    var now: () -> Int64 = { wall }
    var read = {
      AgeClock.Reading(
        wall: wall, milliseconds: milliseconds, boot: boot, isSynchronized: false)
    }
    let store = store ?? MemoryStore { now() }
    self.store = store
    host = ServiceHost(store: store)
    cells = CellsService(in: host)
    tally = TallyService(in: host)
    journal = JournalService(
      in: host, on: scheduler, { read() })
    try host.start()
    now = { [unowned self] in self.wall }
    read = { [unowned self] in
      AgeClock.Reading(
        wall: self.wall, milliseconds: self.milliseconds, boot: self.boot,
        isSynchronized: isSynchronized)
    }
    _ = journal.leap
  }

  func set(_ name: String, _ value: Int, cmd: String? = nil) throws {
    let command = Command(method: "cells.set", caller: Peer(uid: 1, pid: 2), id: cmd)
    _ = try host.perform(command) { try cells.set(name, to: JSONText(value)) }
    store.commit()
  }

  func add(_ number: Int) throws {
    _ = try host.perform(Command(method: "tally.add", caller: Peer(uid: 1, pid: 2))) {
      try tally.add(number)
    }
    store.commit()
  }

  /// Advances the time and fires the timers that are due.
  func pass(days: Double) {
    wall += Int64(days * Double(Self.day))
    milliseconds += UInt64(days * 86_400_000)
  }

  @discardableResult
  func compact(
    before seq: UInt64? = nil, isForced: Bool = false, failing error: JournalError? = nil,
    in time: (Removal) -> UInt64 = { _ in 0 }
  ) throws -> JournalService.Compacted {
    var result: Result<JournalService.Compacted, JournalError>?
    let observation = journal.compact(before: seq, isForced: isForced).observe { event in
      switch event {
      case .next(let compacted): result = .success(compacted)
      case .failed(let fault): result = .failure(fault)
      case .completed: break
      }
    }
    for _ in 0..<10_000 where result == nil {
      store.read()
      store.remove(failing: error, in: time)
      store.commit()
      scheduler.advance(1)
    }
    store.commit()
    observation.dispose()
    return try #require(result).get()
  }

  /// Returns the value of a source at a position.
  func value(of source: String, at seq: UInt64) throws -> String? {
    var result: Result<PastValue, JournalError>?
    let observation = host.value(of: source, at: seq).observe { event in
      switch event {
      case .next(let value): result = .success(value)
      case .failed(let fault): result = .failure(fault)
      case .completed: break
      }
    }
    store.read()
    observation.dispose()
    return try #require(result).get().value?.text
  }

  func positions() throws -> [UInt64] {
    var positions: [UInt64] = []
    store.replay(after: 0) { positions += $0.records.map(\.seq) }
    return positions
  }
}

private func rule(
  _ pattern: String, maxAge: Int64? = nil, maxCount: Int? = nil, maxBytes: Int? = nil,
  maxStreamBytes: Int? = nil
) -> Retention {
  Retention(
    streams: Pattern(pattern) ?? .everything, maxAge: maxAge.map { $0 / 1_000_000 },
    maxCount: maxCount, maxBytes: maxBytes, maxStreamBytes: maxStreamBytes)
}

@Suite(.leavesNothing)
struct CompactionTests {
  @Test
  func `events before a position are removed and recorded, and values stay`() throws {
    let care = try Care()
    for i in 1...9 { try care.set("n\(i % 3)", i) }
    let compacted = try care.compact(before: 7)
    #expect(compacted.removed == 6)
    #expect(compacted.first == 7)
    #expect(care.host.first == 7)
    #expect(try care.positions() == [7, 8, 9, 10])
    #expect(care.cells.ledger.value(of: "cells/n0")?.text == "9")
    let last = care.journal.ledger.committed.lastCompaction
    #expect(last?.from == 1 && last?.to == 6 && last?.count == 6)
    #expect(care.journal.ledger.committed.removedCount == 6)
  }

  @Test
  func `a start after a compaction restores the same state`() throws {
    let care = try Care()
    for i in 1...20 { try care.set("n\(i)", i) }
    for _ in 1...5 { try care.add(3) }
    try care.compact(before: 24)
    let again = try Care(care.store)
    for i in 1...20 { #expect(again.cells.ledger.value(of: "cells/n\(i)")?.text == "\(i)") }
    #expect(again.tally.ledger.value(of: "tally/total")?.text == "15")
    #expect(again.host.version(of: "cells/n3") == 1)
    try again.set("n3", 4)
    #expect(again.host.version(of: "cells/n3") == 2)
  }

  @Test
  func `a start fails if no snapshot covers the removed events`() throws {
    let care = try Care()
    for i in 1...9 { try care.set("n", i) }
    try care.compact(before: 7)
    care.store.dropSnapshots(of: "cells")
    #expect(
      throws: JournalError.corrupt(
        seq: 6, detail: "it was removed, and no snapshot of cells after it can be read")
    ) { try Care(care.store) }
  }

  /// Returns the number of events that a stream has left.
  private func events(of stream: String, _ care: Care) -> Int {
    var count = 0
    care.store.replay(after: 0) { count += $0.records.count { $0.stream == stream } }
    return count
  }

  @Test
  func `the past of one stream is bounded without a rule, and others keep theirs`() throws {
    let care = try Care()
    #expect(care.journal.defaultRule == rule("**", maxStreamBytes: 1 << 30), "without a test's own")
    care.journal.defaultRule = rule("**", maxStreamBytes: 20_000)
    for i in 1...40 { try care.set("slow\(i)", i) }
    for i in 1...900 { try care.set("fast", i) }
    var filling: [JournalFigures.Filling] = []
    care.journal.onFilling = { filling.append($0) }
    let removed = try care.compact().removed
    let size = 20_000 / (900 - removed)
    #expect(160...200 ~= size, "as many events as fit: \(removed)")
    for i in 1...40 { #expect(events(of: "cells/slow\(i)", care) == 1) }
    #expect(care.cells.ledger.value(of: "cells/fast")?.text == "900")
    #expect(filling.map(\.stream) == ["cells/fast"])
    // It goes on, and so does a daemon that starts again.
    for i in 1...50 { try care.set("fast", i) }
    #expect(try care.compact().removed == 50)
    let again = try Care(care.store)
    again.journal.defaultRule = care.journal.defaultRule
    for i in 1...30 { try again.set("fast", i) }
    #expect(try again.compact().removed == 30)
    #expect(try again.compact().removed == 0)
  }

  @Test
  func `a rule for a stream takes the place of the default`() throws {
    let care = try Care()
    care.journal.defaultRule = rule("**", maxStreamBytes: 5_000)
    care.journal.retention = [
      rule("cells/all", maxBytes: 1 << 40),
      rule("cells/twins/*", maxStreamBytes: 2_000),
    ]
    for i in 1...100 {
      for name in ["all", "twins/a", "twins/b", "other"] { try care.set(name, i) }
    }
    try care.compact()
    #expect(events(of: "cells/all", care) == 100)
    #expect(5...12 ~= events(of: "cells/twins/a", care))
    #expect(events(of: "cells/twins/a", care) == events(of: "cells/twins/b", care))
    #expect(20...30 ~= events(of: "cells/other", care))
  }

  @Test
  func `a warning comes before the past of a stream is cut`() throws {
    let care = try Care()
    care.journal.defaultRule = rule("**", maxStreamBytes: 20_000)
    var filling: [JournalFigures.Filling] = []
    care.journal.onFilling = { filling.append($0) }
    for i in 1...60 { try care.set("a", i) }
    #expect(try care.compact().removed == 0)
    #expect(filling.isEmpty)
    for i in 1...40 { try care.set("a", i) }
    #expect(try care.compact().removed == 0)
    #expect(filling.map(\.stream) == ["cells/a"])
    #expect(filling.allSatisfy { $0.max == 20_000 && 16_000...20_000 ~= $0.bytes })
    try care.compact()
    #expect(filling.count == 1, "once")
  }

  @Test
  func `the last event of the journal is never removed`() throws {
    let care = try Care()
    for i in 1...3 { try care.set("n", i) }
    #expect(try care.compact(before: 100).removed == 2)
    #expect(try care.positions() == [3, 4])
  }

  @Test
  func `a rule keeps the newest events of its streams and all of others`() throws {
    let care = try Care()
    care.journal.retention = [rule("cells/log/*", maxCount: 3)]
    for i in 1...10 { try care.set(i % 2 == 0 ? "log/\(i)" : "n", i) }
    #expect(try care.compact().removed == 2)
    #expect(try care.positions() == [1, 3, 5, 6, 7, 8, 9, 10, 11])
    #expect(care.host.first == 1)
    // When the first events are removed too, the first retained position grows.
    try care.compact(before: 6)
    #expect(care.host.first == 6)
  }

  @Test
  func `a rule also removes events before the last removal of another rule`() throws {
    let care = try Care()
    care.journal.retention = [rule("cells/log/*", maxCount: 2)]
    for i in 1...30 { try care.set(i % 2 == 0 ? "log/\(i)" : "n", i) }
    #expect(try care.compact().removed == 13)
    care.journal.retention = [rule("cells/log/*", maxCount: 2), rule("cells/n", maxCount: 10)]
    #expect(try care.compact().removed == 5)
    #expect(try care.compact(before: 15).removed == 2)
    #expect(care.host.first == 15)
  }

  @Test
  func `a byte limit counts from the newest event`() throws {
    let care = try Care()
    care.journal.retention = [rule("cells/**", maxBytes: 600)]
    for i in 1...10 { try care.set("n", i) }
    let kept = 10 - (try care.compact().removed)
    // An event of this size counts as about 180 bytes.
    #expect(kept == 3)
  }

  @Test
  func `events expire by age, and the first matching rule applies`() throws {
    let care = try Care()
    care.journal.retention = [
      rule("cells/keep"), rule("cells/**", maxAge: 10 * Care.day),
    ]
    try care.set("keep", 1)
    try care.set("n", 2)
    for _ in 0..<9 {
      care.pass(days: 0.99)
      _ = try care.compact()
    }
    try care.set("n", 3)
    #expect(try care.compact().removed == 0)
    care.pass(days: 2)
    #expect(try care.compact().removed == 1)
    #expect(try care.positions() == [1, 3, 4])
  }

  @Test
  func `21: a clock jump expires no event, unless an administrator confirms the time`() throws {
    let care = try Care()
    var leaps: [Int64] = []
    care.journal.onLeap = { leaps.append($0) }
    care.journal.retention = [rule("cells/**", maxAge: 10 * Care.day)]
    try care.set("n", 1)
    try care.set("n", 2)
    #expect(try care.compact().removed == 0)
    care.wall += 3_650 * Care.day
    try care.set("n", 3)
    #expect(try care.compact().removed == 0)
    #expect(leaps == [3_650 * Care.day])
    // The clock stays distrusted after a restart.
    let again = try Care(care.store, wall: care.wall)
    again.journal.retention = care.journal.retention
    #expect(try again.compact().removed == 0)
    again.pass(days: 5)
    #expect(try again.compact().removed == 0)
    #expect(again.journal.leap > 0)
    #expect(try again.compact(isForced: true).removed == 2)
    #expect(again.journal.leap == 0)
  }

  /// Time between two starts of a daemon: days by the clock, days of machine uptime,
  /// whether the machine was rebooted, and whether the kernel reports the clock as synchronized.
  @Test(
    arguments: [
      // The daemon was down while the machine ran or slept.
      (5, 5, false, false, 2),
      // The machine was off; ten years are not plausible.
      (5, 0, true, false, 2), (300, 0, true, false, 2), (3_650, 0, true, false, 0),
      // The kernel reports a synchronized clock.
      (3_650, 0, true, true, 2), (5, 0, false, true, 2), (5, 0, false, false, 0),
    ])
  func `21: after a downtime the clock decides the age of events if it is plausible`(
    days: Int64, running: UInt64, isOtherBoot: Bool, isSynchronized: Bool, removed: Int
  ) throws {
    let care = try Care(milliseconds: 7_000)
    care.journal.retention = [rule("cells/**", maxAge: Care.day)]
    for i in 1...3 { try care.set("n", i) }
    #expect(try care.compact().removed == 0)
    let again = try Care(
      care.store, wall: care.wall + days * Care.day,
      milliseconds: isOtherBoot ? 9 : 7_000 + running * 86_400_000,
      boot: isOtherBoot ? "second" : "first")
    again.isSynchronized = isSynchronized
    again.journal.retention = care.journal.retention
    #expect(try again.compact().removed == removed)
    #expect((again.journal.leap == 0) == (removed > 0))
    guard isOtherBoot, removed > 0, !isSynchronized else { return }
    // Only once: from then on the uptime counts.
    care.wall = again.wall
    try again.set("n", 4)
    #expect(try again.compact().removed == 1, "what was the last one")
    try again.set("n", 5)
    again.wall += 5 * Care.day
    #expect(try again.compact().removed == 0)
    #expect(again.journal.leap == 5 * Care.day)
  }

  @Test
  func `21: a clock that is set after the boot of the machine is trusted from then on`() throws {
    let care = try Care()
    care.journal.retention = [rule("cells/**", maxAge: Care.day)]
    for i in 1...3 { try care.set("n", i) }
    #expect(try care.compact().removed == 0)
    let again = try Care(care.store, wall: 0, boot: "second")
    again.journal.retention = care.journal.retention
    #expect(try again.compact().removed == 0)
    again.wall = care.wall + 5 * Care.day
    #expect(try again.compact().removed == 2)
  }

  @Test
  func `21: event times in the future are reported once, and shown`() throws {
    let care = try Care()
    var told: [Int64] = []
    care.journal.onFuture = { told.append($1) }
    care.journal.count = {
      Signal(just: JournalFigures(path: "", epoch: "", first: 1, last: 1))
    }
    func shown() throws -> Int64? {
      var figures: JournalFigures?
      care.journal.figures().observe { if case .next(let found) = $0 { figures = found } }.dispose()
      return try #require(figures).clockBehind
    }
    care.wall += 3_650 * Care.day
    try care.set("n", 1)
    care.journal.start(every: 600)
    #expect(told.isEmpty)
    care.wall -= 3_650 * Care.day
    try care.set("n", 2)
    for _ in 0..<3 { care.scheduler.advance(600) }
    #expect(told == [3_650 * Care.day])
    #expect(try shown() == 3_650 * 86_400)
    care.wall += 3_650 * Care.day
    #expect(try shown() == nil)
    care.journal.stop()
  }

  @Test
  func `events of commands that may be repeated are retained`() throws {
    let care = try Care()
    try care.set("n", 1, cmd: "c-1")
    try care.set("n", 2)
    try care.set("n", 3)
    #expect(try care.compact(before: 3).removed == 1)
    #expect(try care.positions() == [1, 3, 4])
    care.pass(days: 1.1)
    #expect(try care.compact(before: 3).removed == 1)
    #expect(try care.positions() == [3, 4, 5])
  }

  @Test
  func `events of unknown services are retained`() throws {
    let store = MemoryStore()
    _ = store.append(Draft(stream: "cells/x", type: "cells.later", data: "{}"), at: 0)
    _ = store.append(Draft(stream: "later/x", type: "later.done", data: "{}"), at: 0)
    store.seal(meta: nil)
    store.commit()
    let care = try Care(store)
    for i in 1...3 { try care.set("n", i) }
    for i in 1...3 { try care.add(i) }
    #expect(try care.compact(before: 8).removed == 2)
    #expect(
      try care.positions() == [1, 2, 3, 4, 5, 8, 9], "no snapshot can stand for the other cells")
  }

  @Test
  func `a failed step ends the compaction, records its progress, and the next one continues`()
    throws
  {
    let care = try Care()
    for i in 1...9 { try care.set("n", i) }
    let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)
    #expect(throws: JournalError.readOnly(reason: "ENOSPC", outcome: .none)) {
      try care.compact(before: 5, failing: full)
    }
    #expect(try care.positions() == Array(1...9))
    #expect(try care.compact(before: 5).removed == 4)
  }

  @Test
  func `steps are small, however many events are removed`() throws {
    let care = try Care()
    let large = String(repeating: "x", count: 100_000)
    for i in 1...2000 {
      let value = i % 100 == 0 ? JSONText(string: large) : JSONText(i)
      _ = try care.host.perform(Command(method: "cells.set", caller: Peer(uid: 1, pid: 2))) {
        try care.cells.set("n", to: value)
      }
    }
    care.store.commit()
    var steps: [Removal] = []
    care.store.onRemove = { steps.append($0) }
    #expect(try care.compact(before: 1999).removed == 1998)
    #expect(steps.allSatisfy { $0.count <= Removal.maxCount && $0.last - $0.first < 256 })
    #expect(steps.map(\.count).reduce(0, +) == 1998)
    #expect(steps.count >= 8)
    // A step removes fewer large events.
    #expect(steps.allSatisfy { step in (step.first...step.last).count { $0 % 100 == 0 } <= 3 })
  }

  @Test
  func `slow steps make the next ones smaller, and quick steps make them larger`() throws {
    let care = try Care()
    for i in 1...3000 {
      _ = try care.host.perform(Command(method: "cells.set", caller: Peer(uid: 1, pid: 2))) {
        try care.cells.set("n", to: JSONText(i))
      }
    }
    care.store.commit()
    var sizes: [UInt64] = []
    care.store.onRemove = { sizes.append($0.last + 1 - $0.first) }
    // An event takes 0.1 ms, later almost no time.
    let compacted = try care.compact(before: 2999) { step in
      step.last < 1500 ? UInt64(step.count) * 100_000 : 1000
    }
    #expect(compacted.removed == 2998)
    #expect(sizes.reduce(0, +) == 2998)
    #expect(sizes.prefix(4) == [64, 32, 16, 16])
    #expect(sizes.max() == 256)
    #expect(sizes.dropFirst(2).prefix(80).allSatisfy { $0 <= 20 })
  }

  @Test
  func `past values are known after the last removal, or if the service lost no events`() throws {
    let care = try Care()
    for i in 1...5 { try care.add(i) }
    for i in 6...10 { try care.set("n", i) }
    care.journal.retention = [rule("cells/**", maxCount: 2)]
    #expect(try care.compact().removed == 3)
    #expect(try care.positions() == [1, 2, 3, 4, 5, 9, 10, 11])
    #expect(try care.value(of: "tally/total", at: 3) == "6")
    #expect(try care.value(of: "cells/n", at: 9) == "9")
    #expect(try care.value(of: "cells/n", at: 8) == "8")
    #expect(throws: JournalError.outOfRange(first: 8, last: 11)) {
      try care.value(of: "cells/n", at: 7)
    }
    try care.compact(before: 9)
    #expect(throws: JournalError.outOfRange(first: 9, last: 12)) {
      try care.value(of: "tally/total", at: 3)
    }
    #expect(try care.value(of: "tally/total", at: 9) == "15")
  }

  @Test
  func `a reader learns the removed positions, and an error for an expired one`() throws {
    let care = try Care()
    for i in 1...10 { try care.set(i % 2 == 0 ? "log" : "n", i) }
    care.journal.retention = [rule("cells/log", maxCount: 2)]
    try care.compact()
    func page(after seq: UInt64) throws -> Page<JournalEvent> {
      var result: Result<Page<JournalEvent>, JournalError>?
      let observation = care.host.readEvents(after: seq, limit: 100, EventFilter(), as: { $0 })
        .observe {
          switch $0 {
          case .next(let page): result = .success(page)
          case .failed(let fault): result = .failure(fault)
          case .completed: break
          }
        }
      care.store.read()
      observation.dispose()
      return try #require(result).get()
    }
    #expect(try page(after: 0).holes == [2...2, 4...4, 6...6])
    #expect(try page(after: 0).entries.map(\.seq) == [1, 3, 5, 7, 8, 9, 10, 11])
    try care.compact(before: 8)
    #expect(throws: JournalError.outOfRange(first: 8, last: 12)) { try page(after: 3) }
    #expect(try page(after: 7).entries.first?.seq == 8)
  }
}
