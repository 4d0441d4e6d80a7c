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

/// The state of a host after a start by replay, by snapshot, or by both.
@Suite(.leavesNothing)
struct ServiceHostStartTests {
  let bench: Bench

  init() throws {
    bench = try Bench()
  }

  @Test
  func `a replay restores the state of the first run`() throws {
    for i in 0..<50 { try bench.set("c\(i % 7)", "\(i)") }
    try bench.run { JSONText(try bench.cells.remove("c3")) }
    try bench.run { try bench.tally.add(5) }
    bench.store.commit()
    let reborn = try Bench(bench.store)
    #expect(reborn.cells.list(prefix: "") == bench.cells.list(prefix: ""))
    #expect(reborn.tally.ledger.committed.places == bench.tally.ledger.committed.places)
    #expect(reborn.host.durable == 52)
    #expect(reborn.host.version(of: "cells/c0") == bench.host.version(of: "cells/c0"))
  }

  @Test
  func `a start from a snapshot restores the same state as a full replay`() throws {
    let bench = try Bench(snapshotEvery: 20)
    for i in 0..<30 {
      try bench.run("id-\(i)", parameters: "\(i)") {
        try bench.cells.set("c\(i % 7)", to: JSONText(i))
      }
      try bench.run { try bench.tally.add(1) }
      bench.store.commit()
      bench.store.read()
    }
    #expect(bench.store.snapshot(of: "cells")?.seq == 60)
    #expect(bench.store.snapshot(of: "journal")?.seq == 60)
    for i in 30..<35 { try bench.set("c\(i % 7)", "\(i)") }
    bench.store.commit()

    let reborn = try Bench(bench.store)
    #expect(reborn.cells.list(prefix: "") == bench.cells.list(prefix: ""))
    #expect(reborn.tally.ledger.committed.total == 30)
    #expect(reborn.host.version(of: "cells/c1") == bench.host.version(of: "cells/c1"))
    #expect(reborn.host.version(of: "tally") == 30)
    let again = try reborn.run("id-3", parameters: "3") {
      try reborn.cells.set("c3", to: JSONText(3))
    }
    #expect(again.isReplayed)
    #expect(again.seq == 7)
  }

  @Test
  func `after the start, the durable and the newest state share no storage`() throws {
    struct Lonely: ServiceState, Codable {
      enum Event: ServiceEvent, Codable {
        case happened

        static let kinds: Set = ["happened"]
      }
      var isAlone = false
      mutating func apply(_ event: Event, at place: EventContext) {}
      mutating func makeUnique() { isAlone = true }
      func value(of source: String) -> JSONText? { nil }
      var sources: [String] { [] }
      static func sources(changedBy event: Event, at place: EventContext) -> [String] { [] }
    }
    let host = ServiceHost(store: MemoryStore())
    let ledger = Ledger<Lonely>("lonely", in: host)
    try host.start()
    #expect(ledger.committed.isAlone)
    #expect(!ledger.pending.isAlone)
  }

  @Test
  func `a long replay is followed by a snapshot`() throws {
    for i in 0..<5 { try bench.set("a", "\(i)") }
    bench.store.commit()
    _ = try Bench(bench.store, snapshotEvery: 6)
    bench.store.read()
    #expect(bench.store.snapshot(of: "cells") == nil)
    let reborn = try Bench(bench.store, snapshotEvery: 5)
    bench.store.read()
    #expect(bench.store.snapshot(of: "cells")?.seq == 5)
    _ = reborn
  }

  @Test
  func `a snapshot has the events up to its position, and none that follow`() throws {
    let bench = try Bench(snapshotEvery: 5)
    for i in 0..<4 { try bench.set("c\(i)", "\(i)") }
    _ = try bench.run("first", parameters: "") {
      try bench.cells.set("c4", to: JSONText(4))
    }
    try bench.set("c0", "100")
    try bench.set("new", "1")
    _ = try bench.run("pending", parameters: "") {
      try bench.cells.set("new", to: JSONText(2))
    }
    bench.store.commit(5)
    // The snapshot is requested and not encoded yet.
    try bench.run { JSONText(try bench.cells.remove("c1")) }
    bench.store.commit()
    _ = try bench.run("second", parameters: "") {
      try bench.cells.set("c2", to: JSONText(200))
    }
    bench.store.read()

    for service in ["cells", "tally", "journal"] {
      #expect(bench.store.snapshot(of: service)?.seq == 5)
    }
    let cells = bench.store.snapshot(of: "cells").map { JSONText(trusted: $0.data) }
    #expect(
      cells?.members == [
        "cells/c0": JSONText(0), "cells/c1": JSONText(1), "cells/c2": JSONText(2),
        "cells/c3": JSONText(3), "cells/c4": JSONText(4),
      ])
    let journal = bench.store.snapshot(of: "journal").map { JSONText(trusted: $0.data) }
    let heads = journal?.members?["heads"]?.members
    #expect(heads?.count == 5)
    #expect(heads?["cells/c0"]?.elements?.prefix(2).map(\.text) == ["1", "1"])
    #expect(journal?.members?["window"]?.text.contains("first") == true)
    #expect(journal?.members?["window"]?.text.contains("pending") == false)
    #expect(journal?.members?["window"]?.text.contains("second") == false)

    bench.store.commit()
    let reborn = try Bench(bench.store)
    for service in ["cells", "tally", "journal"] { bench.store.dropSnapshots(of: service) }
    let replayed = try Bench(bench.store)
    #expect(reborn.cells.list(prefix: "") == replayed.cells.list(prefix: ""))
    #expect(reborn.cells.list(prefix: "") == bench.cells.list(prefix: ""))
    for name in ["c0", "c1", "c2", "new"] {
      let version = replayed.host.version(of: "cells/\(name)")
      #expect(reborn.host.version(of: "cells/\(name)") == version)
    }
    #expect(reborn.host.stateBytes == replayed.host.stateBytes)
  }

  @Test
  func `a failed snapshot is reported and retried later`() throws {
    let bench = try Bench(snapshotEvery: 5)
    var faults: [JournalError] = []
    bench.host.onSnapshotFailure = { faults.append($0) }
    for i in 0..<5 { try bench.set("a", "\(i)") }
    bench.store.commit()
    bench.store.failReadings(.unavailable(detail: "no memory"))
    #expect(faults == [.unavailable(detail: "no memory")])
    try bench.set("a", "5")
    bench.store.commit()
    bench.store.read()
    #expect(bench.store.snapshot(of: "cells") == nil, "not again at once")
    for i in 6..<10 { try bench.set("a", "\(i)") }
    bench.store.commit()
    bench.store.read()
    #expect(bench.store.snapshot(of: "cells")?.seq == 10)
    #expect(faults.count == 1)
  }

  @Test
  func `an unsaved snapshot is saved at shutdown`() throws {
    let bench = try Bench(snapshotEvery: 5)
    var faults: [JournalError] = []
    bench.host.onSnapshotFailure = { faults.append($0) }
    for i in 0..<5 { try bench.set("a", "\(i)") }
    bench.store.commit()
    bench.store.saveFailure = "no room"
    bench.store.read()
    #expect(faults == [.unavailable(detail: "no room")])
    bench.store.saveFailure = nil
    bench.host.saveSnapshots()
    #expect(bench.store.snapshot(of: "cells")?.seq == 5)
    #expect(bench.store.snapshot(of: "journal")?.seq == 5)
  }

  @Test
  func `no snapshot is saved at shutdown if few events follow the last one`() throws {
    let bench = try Bench(snapshotEvery: 10)
    for i in 0..<10 { try bench.set("c\(i)", "\(i)") }
    bench.store.commit()
    bench.store.read()
    for i in 0..<4 { try bench.set("c0", "\(i)") }
    bench.store.commit()
    bench.host.saveSnapshots()
    #expect(bench.store.snapshot(of: "cells")?.seq == 10)
    try bench.set("c0", "5")
    bench.store.commit()
    bench.host.saveSnapshots()
    #expect(bench.store.snapshot(of: "cells")?.seq == 15)
  }

  @Test
  func `a snapshot can be saved right after the start`() throws {
    try bench.set("a", "1")
    bench.store.commit()
    let reborn = try Bench(bench.store)
    reborn.host.saveSnapshots()
    #expect(bench.store.snapshot(of: "cells")?.seq == 1)
    #expect(try Bench(bench.store).host.version(of: "cells/a") == 1)
  }

  @Test
  func `a snapshot may hold more than a client may send`() throws {
    let count = JSONLimits.members + 1
    let kept = (0..<count).map { "\"cells/c\($0)\":\($0)" }.joined(separator: ",")
    let heads = (0..<count).map { "\"cells/c\($0)\":[1,\($0 + 1)]" }.joined(separator: ",")
    try bench.set("a", "1")
    bench.store.commit()
    bench.store.save(Snapshot(service: "cells", seq: 1, schema: 2, data: "{\(kept)}"))
    bench.store.save(
      Snapshot(
        service: "journal", seq: 1, schema: 3,
        data: "{\"heads\":{\(heads)},\"window\":{\"entries\":{},\"order\":[],\"oldest\":0}}"))
    let reborn = try Bench(bench.store)
    #expect(reborn.cells.list(prefix: "").count == count)
    #expect(reborn.value("cells/c4096") == "4096")
    #expect(reborn.host.version(of: "cells/c4096") == 4097)
    bench.store.read()  // many names are sorted off the event loop
  }

  @Test
  func `a snapshot of an unknown form is ignored`() throws {
    try bench.run { try bench.tally.add(1) }
    bench.store.commit()
    bench.store.save(Snapshot(service: "tally", seq: 1, schema: 99, data: "{}"))
    bench.store.save(Snapshot(service: "cells", seq: 1, schema: 2, data: "[]"))
    let reborn = try Bench(bench.store)
    #expect(reborn.tally.ledger.committed.total == 1)
  }

  @Test
  func `events of unknown services are skipped`() throws {
    let store = MemoryStore()
    let drafts = [
      Draft(stream: "other/x", type: "other.done", data: "{}"),
      Draft(stream: "tally", type: "tally.invented", data: "{\"x\":1}"),
      Draft(stream: "tally", type: "tally.added", data: "{\"by\":4,\"later\":true}"),
    ]
    for draft in drafts { _ = store.append(draft, at: 0) }
    store.seal(meta: nil)
    store.commit()
    let bench = try Bench(store)
    #expect(bench.tally.ledger.committed.total == 4)
    #expect(bench.host.version(of: "tally") == 2)
  }

  @Test
  func `events of a missing service are reported at each start`() throws {
    let store = MemoryStore()
    for draft in [
      Draft(stream: "later/x", type: "later.done", data: "{}"),
      Draft(stream: "later/y", type: "later.done", data: "{}"),
      Draft(stream: "tally", type: "tally.added", data: "{\"by\":4}"),
    ] {
      _ = store.append(draft, at: 0)
    }
    store.seal(meta: nil)
    store.commit()
    let warnings = [
      "the daemon ignores 2 events of the service 'later', which this program does not "
        + "have, and keeps them"
    ]
    let bench = try Bench(store)
    #expect(bench.host.startWarnings == warnings)
    // Also if the replay begins after them.
    bench.host.saveSnapshots()
    #expect(try Bench(store).host.startWarnings == warnings)
  }
}
