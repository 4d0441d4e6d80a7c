import JSON
import Journal
import Services
import Signals
import Testing

struct ServiceHostTests {
  let bench: Bench
  let bag = DisposeBag()

  init() throws {
    bench = try Bench()
  }

  private func refusal(_ body: () throws(Refusal) -> Void) -> Refusal? {
    do throws(Refusal) {
      try body()
      return nil
    } catch {
      return error
    }
  }

  // MARK: Durable before visible

  @Test
  func `a state is told of when it is durable, once for each event and with its place`() throws {
    var totals: [Int] = []
    bench.tally.ledger.shown.map(\.total).removeDuplicates().observeNext { totals.append($0) }
      .dispose(in: bag)
    try bench.run { try bench.tally.add(2) }
    try bench.run { try bench.tally.add(3) }
    #expect(totals == [0])
    bench.store.commit()
    #expect(totals == [0, 2, 5])
    #expect(bench.tally.ledger.shown.value.places == [1, 2])
    #expect(bench.tally.ledger.newest.places == [1, 2])
  }

  @Test
  func `what a command with an identity has decided is applied once, before and after its write`()
    throws
  {
    try bench.run("first") { try bench.tally.add(2) }
    bench.store.commit()
    #expect(bench.tally.ledger.newest.places == [1])
    #expect(bench.tally.ledger.shown.value.places == [1])
    try bench.run("second") { try bench.tally.add(3) }
    #expect(bench.tally.ledger.newest.total == 5)
  }

  @Test
  func `changes are told by source, and by pattern in order`() throws {
    var lamp: [SourceChange] = []
    var all: [SourceChange] = []
    bench.cells.ledger.changes(of: "cells/lamp").observeNext { lamp.append($0) }.dispose(in: bag)
    bench.cells.ledger.changes { $0 != "cells/door" }.observeNext { all.append($0) }
      .dispose(in: bag)
    for (name, value) in [("lamp", "1"), ("door", "2"), ("lamp", "3"), ("bell", "4")] {
      try bench.set(name, value)
    }
    try bench.run { JSONText(try bench.cells.unset("lamp")) }
    bench.store.commit()
    #expect(lamp.map(\.seq) == [1, 3, 5])
    #expect(lamp.map(\.value?.text) == ["1", "3", nil])
    #expect(all.map(\.source) == ["cells/lamp", "cells/lamp", "cells/bell", "cells/lamp"])
    bag.dispose()
    try bench.set("lamp", "6")
    bench.store.commit()
    #expect(lamp.count == 3)
  }

  @Test
  func `no more names are looked at than are wanted`() throws {
    for i in 0..<100 { try bench.set("c\(i)", "1") }
    bench.store.commit()
    var looks = 0
    let names = bench.cells.ledger.sources(upTo: 7) { _ in
      looks += 1
      return true
    }
    #expect(names.count == 7)
    #expect(looks == 7)
    #expect(bench.cells.ledger.sources { $0.hasSuffix("5") }.count == 10)
  }

  @Test
  func `the host tells of a write after the services have taken it in`() throws {
    var seen: [String?] = []
    bench.host.progress.observeNext { [bench] _ in seen.append(bench.value("cells/a")) }
      .dispose(in: bag)
    try bench.set("a", "1")
    try bench.set("a", "2")
    bench.store.commit()
    #expect(seen == ["2"])
    #expect(bench.host.durable == 2)
  }

  // MARK: Failures

  @Test
  func `a write that is lost is forgotten, and what follows is decided anew`() throws {
    try bench.set("a", "1")
    bench.store.commit()
    try bench.set("a", "2")
    try bench.set("b", "2")
    var reasons: [JournalFault] = []
    bench.host.rejected.observeNext { reasons.append($0) }.dispose(in: bag)
    let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)
    bench.store.reject(full)
    #expect(reasons == [.readOnly(reason: "ENOSPC", mayBeWritten: false)])
    #expect(bench.cells.ledger.newest["cells/a"]?.text == "1")
    #expect(bench.cells.ledger.newest["cells/b"] == nil)
    let next = try bench.run { try bench.cells.set("b", to: JSONText(3)) }
    #expect(next.seq == 2)
    bench.store.commit()
    #expect(bench.value("cells/b") == "3")
    #expect(bench.value("cells/a") == "1")
  }

  @Test
  func `a journal at its end refuses commands`() throws {
    let broken = JournalError.readOnly(reason: "EIO", outcome: .unknown)
    var ends: [JournalFault] = []
    bench.host.failed.observeNext { ends.append($0) }.dispose(in: bag)
    try bench.set("a", "1")
    bench.store.fail(broken)
    let fault = JournalFault.readOnly(reason: "EIO", mayBeWritten: true)
    #expect(ends == [fault])
    #expect(bench.cells.ledger.newest["cells/a"] == nil)
    guard
      case .journal(fault)? = refusal({ () throws(Refusal) in
        try bench.run { try bench.cells.set("a", to: JSONText(1)) }
      })
    else {
      Issue.record("not refused")
      return
    }
  }

  @Test
  func `a command that fails after it has recorded leaves nothing behind`() throws {
    try bench.run { try bench.tally.add(1) }
    guard
      case .service(TallyService.Failure.tooMuch)? = refusal({ () throws(Refusal) in
        try bench.run { try bench.tally.addAndFail(5) }
      })
    else {
      Issue.record("not refused")
      return
    }
    #expect(bench.tally.ledger.newest.total == 1)
    #expect(bench.host.last == 1)
    try bench.run { try bench.tally.add(2) }
    bench.store.commit()
    #expect(bench.tally.ledger.shown.value.total == 3)
  }

  @Test
  func `a command that fails in an unknown way is refused, leaves nothing, and others run`() throws
  {
    struct Surprise: Error {}
    guard
      case .unexpected(let detail)? = refusal({ () throws(Refusal) in
        try bench.run {
          _ = try bench.tally.add(1)
          throw Surprise()
        }
      })
    else {
      Issue.record("not refused")
      return
    }
    #expect(detail.hasPrefix("test.run: Surprise"))
    #expect(bench.host.last == 0)
    #expect(try bench.run { try bench.tally.add(2) }.seq == 1)
  }

  @Test
  func `an event outside of a command traps`() async {
    await #expect(processExitsWith: .failure) {
      let bench = try Bench()
      _ = try bench.tally.add(1)
    }
  }

  // MARK: Expectations

  @Test
  func `a command runs only where streams are as expected`() throws {
    try bench.set("a", "1")
    let cases: [(String, Services.Expectation, Bool)] = [
      ("cells/a", .version(1), true), ("cells/a", .version(2), false), ("cells/a", .none, false),
      ("cells/a", .exists, true), ("cells/a", .any, true), ("cells/b", .none, true),
      ("cells/b", .version(0), true), ("cells/b", .exists, false), ("nowhere", .any, true),
    ]
    for (stream, expectation, isRun) in cases {
      var wasRun = false
      let error = refusal { () throws(Refusal) in
        try bench.run(expecting: [("nowhere", .none), (stream, expectation)]) {
          wasRun = true
          return nil
        }
      }
      #expect(wasRun == isRun, "\(stream) \(expectation)")
      if !isRun {
        guard case .conflict(stream, expectation, let actual)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(actual == (stream == "cells/a" ? 1 : 0))
      }
    }
  }

  // MARK: Identities

  @Test
  func `the same command is run once, and answered as the first time`() throws {
    let first = try bench.run("c-1", parameters: "{}") { try bench.tally.add(2) }
    #expect(first == Accepted(value: JSONText(2), seq: 1, version: 1))
    var again = try bench.run("c-1", parameters: "{}") { try bench.tally.add(2) }
    #expect(again == Accepted(value: JSONText(2), seq: 1, version: 1, isReplayed: true))
    bench.store.commit()
    #expect(bench.store.records.map(\.draft.command) == ["c-1"])

    let reborn = try Bench(bench.store)
    again = try reborn.run("c-1", parameters: "{}") { try reborn.tally.add(2) }
    #expect(again == Accepted(value: JSONText(2), seq: 1, version: 1, isReplayed: true))
    #expect(reborn.tally.ledger.newest.total == 2)
  }

  @Test
  func `an identity that belonged to another command is refused`() throws {
    try bench.run("c-1", method: "a.b", parameters: "{}") { try bench.tally.add(2) }
    for (method, parameters) in [("a.c", "{}"), ("a.b", "{\"x\":1}")] {
      let error = refusal { () throws(Refusal) in
        try bench.run("c-1", method: method, parameters: parameters) { nil }
      }
      guard case .reused(seq: 1)? = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
  }

  @Test
  func `an identity whose write is lost is free again`() throws {
    try bench.run("c-1") { try bench.tally.add(2) }
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    let again = try bench.run("c-1") { try bench.tally.add(2) }
    #expect(!again.isReplayed)
    bench.store.commit()
    #expect(bench.tally.ledger.shown.value.total == 2)
  }

  @Test
  func `identities are forgotten after a day`() throws {
    var clock: Int64 = 0
    let bench = try Bench(MemoryStore { clock })
    let hour: Int64 = 3600 * 1_000_000
    try bench.run("old") { try bench.tally.add(1) }
    clock = 23 * hour
    try bench.run("young") { try bench.tally.add(1) }
    #expect(try bench.run("old") { nil }.isReplayed)
    clock = 25 * hour
    try bench.run("new") { try bench.tally.add(1) }
    #expect(try !bench.run("old") { nil }.isReplayed)
    #expect(try bench.run("young") { nil }.isReplayed)
  }

  // MARK: Starts

  @Test
  func `a replay ends where the first run ended`() throws {
    for i in 0..<50 { try bench.set("c\(i % 7)", "\(i)") }
    try bench.run { JSONText(try bench.cells.unset("c3")) }
    try bench.run { try bench.tally.add(5) }
    bench.store.commit()
    let reborn = try Bench(bench.store)
    #expect(reborn.cells.list(prefix: "") == bench.cells.list(prefix: ""))
    #expect(reborn.tally.ledger.shown.value.places == bench.tally.ledger.shown.value.places)
    #expect(reborn.host.durable == 52)
    #expect(reborn.host.version(of: "cells/c0") == bench.host.version(of: "cells/c0"))
  }

  @Test
  func `a start from a snapshot ends where a start from nothing ends`() throws {
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
    #expect(reborn.tally.ledger.shown.value.total == 30)
    #expect(reborn.host.version(of: "cells/c1") == bench.host.version(of: "cells/c1"))
    #expect(reborn.host.version(of: "tally") == 30)
    let again = try reborn.run("id-3", parameters: "3") {
      try reborn.cells.set("c3", to: JSONText(3))
    }
    #expect(again.isReplayed)
    #expect(again.seq == 7)
  }

  @Test
  func `what is shown shares nothing with what is decided, once the start is over`() throws {
    struct Lonely: ServiceState {
      enum Event: ServiceEvent, Codable { case happened }
      var isAlone = false
      mutating func apply(_ event: Event, at place: Place) {}
      mutating func unshare() { isAlone = true }
      func value(of source: String) -> JSONText? { nil }
      var sources: [String] { [] }
      static func sources(changedBy event: Event, at place: Place) -> [String] { [] }
    }
    let host = ServiceHost(store: MemoryStore())
    let ledger = Ledger<Lonely>("lonely", in: host)
    try host.start()
    #expect(ledger.shown.value.isAlone)
    #expect(!ledger.newest.isAlone)
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
  func `a snapshot that cannot be made is told, and tried again later`() throws {
    let bench = try Bench(snapshotEvery: 5)
    var faults: [JournalFault] = []
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
  func `the state can be saved as soon as it is there`() throws {
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
  }

  @Test
  func `a snapshot of an unknown form is passed over`() throws {
    try bench.run { try bench.tally.add(1) }
    bench.store.commit()
    bench.store.save(Snapshot(service: "tally", seq: 1, schema: 99, data: "{}"))
    bench.store.save(Snapshot(service: "cells", seq: 1, schema: 2, data: "[]"))
    let reborn = try Bench(bench.store)
    #expect(reborn.tally.ledger.shown.value.total == 1)
  }

  @Test
  func `records that no service knows are passed over`() throws {
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
    #expect(bench.tally.ledger.shown.value.total == 4)
    #expect(bench.host.version(of: "tally") == 2)
  }

  // MARK: The past

  /// The value of a source as of each position from 0 to the last.
  private func history(_ source: String) -> [String?] {
    var values: [String?] = []
    for seq in 0...bench.host.last {
      bench.host.value(of: source, at: seq).suppressError().observeNext {
        values.append($0.value?.text)
      }
      .dispose(in: bag)
    }
    bench.store.read()
    return values
  }

  @Test
  func `a value is known as of any position`() throws {
    try bench.set("a", "1")
    try bench.set("b", "1")
    try bench.run { try bench.tally.add(4) }
    try bench.set("a", "2")
    try bench.run { JSONText(try bench.cells.unset("a")) }
    try bench.run { try bench.tally.add(5) }
    bench.store.commit()
    #expect(history("cells/a") == [nil, "1", "1", "1", "2", nil, nil])
    #expect(history("cells/none") == [nil, nil, nil, nil, nil, nil, nil])
    #expect(history("tally/total") == ["0", "0", "0", "4", "4", "4", "9"])
    #expect(history("nobody/none") == [nil, nil, nil, nil, nil, nil, nil])

    var error: JournalFault?
    bench.host.value(of: "cells/a", at: 7).observeFailed { error = $0 }.dispose(in: bag)
    bench.store.read()
    #expect(error == .outOfRange(first: 1, last: 6))
  }

  @Test
  func `changes are read again as they were told`() throws {
    for i in 1...10 {
      try bench.set(i % 2 == 0 ? "a" : "b", "\(i)")
      try bench.run { try bench.tally.add(1) }
    }
    bench.store.commit()
    func read(_ service: String, after seq: UInt64, _ source: String) -> [SourceChange] {
      var changes: [SourceChange] = []
      bench.host.readChanges(in: service, after: seq) { $0 == source }.suppressError()
        .observeNext {
          #expect($0.end == 20)
          changes = $0.changes
        }
        .dispose(in: bag)
      bench.store.read()
      return changes
    }
    #expect(read("cells", after: 4, "cells/a").map(\.seq) == [7, 11, 15, 19])
    #expect(read("cells", after: 4, "cells/a").map(\.value?.text) == ["4", "6", "8", "10"])
    #expect(read("tally", after: 16, "tally/total").map(\.value?.text) == ["9", "10"])
    #expect(read("tally", after: 20, "tally/total").isEmpty)
  }

  @Test
  func `events are read forward and backward, with and without a filter`() throws {
    for i in 1...200 { try bench.set("c\(i % 3)", "\(i)") }
    try bench.run { try bench.tally.add(1) }
    bench.store.commit()
    func page(_ signal: Signal<EventPage, JournalFault>) throws -> EventPage {
      var page: EventPage?
      signal.suppressError().observeNext { page = $0 }.dispose(in: bag)
      bench.store.read()
      return try #require(page)
    }
    let all = EventFilter()
    let one = EventFilter(onlyStream: "cells/c1")
    let type = EventFilter(type: { $0 == "tally.added" })
    var found = try page(bench.host.readEvents(after: 3, limit: 100, all))
    #expect(found.events.map(\.seq).elementsEqual(4...103))
    #expect(found.end == 103)
    found = try page(bench.host.readEvents(after: 3, limit: 2, one))
    #expect(found.events.map(\.seq) == [4, 7])
    found = try page(bench.host.readEvents(after: 3, limit: 2, type))
    #expect(found.events.map(\.seq) == [201])
    #expect(found.end == 201)
    found = try page(bench.host.readEvents(before: nil, limit: 3, all))
    #expect(found.events.map(\.seq) == [199, 200, 201])
    found = try page(bench.host.readEvents(before: 100, limit: 3, one))
    #expect(found.events.map(\.seq) == [91, 94, 97])
    found = try page(bench.host.readEvents(before: nil, limit: 500, one))
    #expect(found.events.count == 67)
    found = try page(bench.host.readEvents(before: 2, limit: 5, type))
    #expect(found.events.isEmpty)
  }

  @Test
  func `a change to the value that was there is known as one`() throws {
    var repeats: [Bool] = []
    bench.cells.ledger.changes(of: "cells/a").observeNext { repeats.append($0.isRepeat) }
      .dispose(in: bag)
    for value in ["1", "1", "2", "1"] { try bench.set("a", value) }
    bench.store.commit()
    #expect(repeats == [false, true, false, false])
  }
}
