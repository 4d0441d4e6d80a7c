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

@Suite(.leavesNothing)
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

  // MARK: Streams

  @Test(
    arguments: [
      ("tally/a b", "a name is made of A-Z a-z 0-9 _ . : - and /"),
      ("tally/", "a segment of a name is not empty"), ("", "a name is not empty"),
      ("tally/a/b/c/d/e/f/g/h", "a name has at most 8 segments"),
      ("cells/lamp", "it does not begin with tally/"), ("tallyho", "it does not begin with tally/"),
    ])
  func `an event in an invalid stream is not recorded`(stream: String, rule: String) {
    let refused = refusal { () throws(Refusal) in
      try bench.run {
        bench.tally.ledger.record(.added(by: 1), in: "tally/a")
        bench.tally.ledger.record(.added(by: 2), in: stream)
        return nil
      }
    }
    guard case .service(let error) = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    #expect(error.kind == .rejected(reason: "bad_name"))
    #expect(error.description == "'\(stream)' is not the name of a stream: \(rule)")
    #expect(bench.store.last == 0)
    #expect(bench.tally.ledger.pending.total == 0)
  }

  // MARK: Origins

  @Test
  func `each event has the caller and the method of its command, many of which take turns`() throws
  {
    let callers = (0..<300).map { Peer(uid: UInt32($0 % 7), pid: Int32($0), program: "p\($0)") }
    let methods = ["tally.add", "tally.sum"]
    for i in 0..<900 {
      let command = Command(method: methods[i / 3 % 2], caller: callers[i * 7 % 300])
      _ = try bench.host.perform(command) {
        bench.tally.ledger.record(.added(by: 1))
        return nil
      }
    }
    bench.store.commit()
    let metas = bench.store.records.map(\.meta)
    #expect(
      metas
        == (0..<900).map {
          let caller = callers[$0 * 7 % 300]
          return
            #"{"uid":\#(caller.uid),"pid":\#(caller.pid),"method":"\#(methods[$0 / 3 % 2])","program":"p\#(caller.pid)"}"#
        })
  }

  @Test
  func `a copy of a command is another command`() {
    var first = Command(method: "tally.add", caller: Peer(uid: 1), id: "a", parameters: "[1]")
    let copy = first
    first.id = "b"
    first.waitsForDisk = true
    var plain = Command(method: "tally.add", caller: Peer(uid: 1))
    let plainCopy = plain
    plain.cause = Command.Cause(seq: 7)
    #expect(copy.id == "a" && !copy.waitsForDisk && copy.parameters == "[1]")
    #expect(first.id == "b" && first.waitsForDisk && first.parameters == "[1]")
    #expect(plainCopy.cause == nil && plain.cause?.seq == 7)
  }

  // MARK: Durable before visible

  @Test
  func `observers receive each event once, when it is durable, with its position`() throws {
    var totals: [Int] = []
    bench.tally.ledger.happened.observeNext { [bench] _ in
      totals.append(bench.tally.ledger.committed.total)
    }
    .dispose(in: bag)
    try bench.run { try bench.tally.add(2) }
    try bench.run { try bench.tally.add(3) }
    #expect(totals == [])
    bench.store.commit()
    #expect(totals == [2, 5])
    #expect(bench.tally.ledger.committed.places == [1, 2])
    #expect(bench.tally.ledger.pending.places == [1, 2])
  }

  @Test
  func `events of a command with a key are applied once, before and after their write`()
    throws
  {
    try bench.run("first") { try bench.tally.add(2) }
    bench.store.commit()
    #expect(bench.tally.ledger.pending.places == [1])
    #expect(bench.tally.ledger.committed.places == [1])
    try bench.run("second") { try bench.tally.add(3) }
    #expect(bench.tally.ledger.pending.total == 5)
  }

  @Test
  func `changes are emitted by source, and by pattern in order`() throws {
    var lamp: [SourceChange] = []
    var all: [SourceChange] = []
    bench.cells.ledger.changes(of: "cells/lamp").observeNext { lamp.append($0) }.dispose(in: bag)
    let pattern = try #require(Pattern("cells/*"))
    bench.cells.ledger.changes(matching: pattern).observeNext { all.append($0) }
      .dispose(in: bag)
    for (name, value) in [("lamp", "1"), ("door/key", "2"), ("lamp", "3"), ("bell", "4")] {
      try bench.set(name, value)
    }
    try bench.run { JSONText(try bench.cells.remove("lamp")) }
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
  func `names are found while they have a durable value`() throws {
    for name in ["a", "b/c", "b/d"] { try bench.set(name, "1") }
    #expect(try names("cells/**") == [])
    bench.store.commit()
    #expect(try names("cells/b/*") == ["cells/b/c", "cells/b/d"])
    try bench.set("b/c", "2")
    try bench.run { JSONText(try bench.cells.remove("b/d")) }
    bench.store.commit()
    #expect(try names("cells/**") == ["cells/a", "cells/b/c"])
    try bench.set("b/d", "3")
    bench.store.commit()
    #expect(try names("cells/b/*") == ["cells/b/c", "cells/b/d"])
  }

  private func names(_ pattern: String) throws -> [String] {
    var found: [String] = []
    try bench.cells.ledger.search(try #require(Pattern(pattern))) { name in
      found.append(name)
      return true
    }
    return found
  }

  @Test
  func `many names are sorted off the event loop, and can be searched meanwhile`() throws {
    for i in 0..<5000 { try bench.set("n\(i)/x", "1") }
    bench.store.commit()
    let bench = try Bench(bench.store)
    func names(_ pattern: String) throws -> Set<String> {
      var found: Set<String> = []
      try bench.cells.ledger.search(try #require(Pattern(pattern))) { name in
        found.insert(name)
        return true
      }
      return found
    }
    #expect(try names("cells/n7/*") == ["cells/n7/x"])
    #expect(bench.cells.ledger.neighbours(of: "cells/n7/y", count: 1).isEmpty)
    try bench.set("n7/y", "1")
    try bench.run { JSONText(try bench.cells.remove("n7/x")) }
    bench.store.commit()
    #expect(try names("cells/n7/*") == ["cells/n7/y"])
    bench.store.read()
    #expect(bench.cells.ledger.neighbours(of: "cells/n7/x", count: 1).count == 2)
    #expect(try names("cells/n7/*") == ["cells/n7/y"])
    #expect(try names("cells/*/x").count == 4999)
  }

  @Test
  func `an event is matched only with filters for its stream or type`() throws {
    var (asked, seen): (Int, [String]) = (0, [])
    func observe(_ id: String, streams: [String]? = nil, types: [String]? = nil) {
      let filter = EventFilter(
        streams: streams?.compactMap { Pattern($0) },
        types: types?.compactMap { Pattern($0, separator: ".") })
      bench.host.events(filter).observeNext { seen.append("\(id) \($0.seq)") }.dispose(in: bag)
    }
    for i in 0..<1000 {
      var filter = EventFilter(streams: [Pattern("cells/x\(i)/**")].compactMap(\.self))
      filter.mayShow = { _ in
        Issue.record("asked in vain")
        return true
      }
      bench.host.events(filter).observeNext { _ in asked += 1 }.dispose(in: bag)
    }
    observe("stream", streams: ["cells/a", "cells/*"])
    observe("type", types: ["cells.removed"])
    observe("both", streams: ["cells/a"], types: ["cells.removed"])
    observe("all")
    try bench.set("a", "1")
    try bench.set("b/c", "1")
    try bench.run { JSONText(try bench.cells.remove("a")) }
    bench.store.commit()
    #expect(asked == 0)
    #expect(
      seen.sorted() == ["all 1", "all 2", "all 3", "both 3", "stream 1", "stream 3", "type 3"])
  }

  @Test
  func `the host reports a write after the services have applied it`() throws {
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
  func `a lost write is rolled back, and later commands do not see it`() throws {
    try bench.set("a", "1")
    bench.store.commit()
    try bench.set("a", "2")
    try bench.set("b", "2")
    var reasons: [JournalError] = []
    bench.host.rejected.observeNext { reasons.append($0) }.dispose(in: bag)
    let full = JournalError.readOnly(reason: "ENOSPC", outcome: .none)
    bench.store.reject(full)
    #expect(reasons == [.readOnly(reason: "ENOSPC", outcome: .none)])
    #expect(bench.cells.ledger.pendingValue(of: "cells/a")?.text == "1")
    #expect(bench.cells.ledger.pendingValue(of: "cells/b") == nil)
    let next = try bench.run { try bench.cells.set("b", to: JSONText(3)) }
    #expect(next.seq == 2)
    bench.store.commit()
    #expect(bench.value("cells/b") == "3")
    #expect(bench.value("cells/a") == "1")
  }

  @Test
  func `a failed journal refuses commands`() throws {
    let broken = JournalError.readOnly(reason: "EIO", outcome: .unknown)
    var ends: [JournalError] = []
    bench.host.failed.observeNext { ends.append($0) }.dispose(in: bag)
    try bench.set("a", "1")
    bench.store.fail(broken)
    let fault = JournalError.readOnly(reason: "EIO", outcome: .unknown)
    #expect(ends == [fault])
    #expect(bench.cells.ledger.pendingValue(of: "cells/a") == nil)
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
  func `a command that fails after recording an event is rolled back`() throws {
    try bench.run { try bench.tally.add(1) }
    guard
      case .service(TallyService.Failure.tooMuch)? = refusal({ () throws(Refusal) in
        try bench.run { try bench.tally.addAndFail(5) }
      })
    else {
      Issue.record("not refused")
      return
    }
    #expect(bench.tally.ledger.pending.total == 1)
    #expect(bench.host.last == 1)
    try bench.run { try bench.tally.add(2) }
    bench.store.commit()
    #expect(bench.tally.ledger.committed.total == 3)
  }

  @Test
  func `a command with an unknown error is refused and rolled back, and others run`() throws {
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
  func `a command runs only if the expected stream versions match`() throws {
    try bench.set("a", "1")
    let cases: [(String, EventSourcing.Expectation, Bool)] = [
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
  func `a repeated command runs once and gets its first answer`() throws {
    let first = try bench.run("c-1", parameters: "{}") { try bench.tally.add(2) }
    #expect(first == Accepted(value: JSONText(2), seq: 1, version: 1))
    var again = try bench.run("c-1", parameters: "{}") { try bench.tally.add(2) }
    #expect(again == Accepted(value: JSONText(2), seq: 1, version: 1, isReplayed: true))
    bench.store.commit()
    #expect(bench.store.records.map(\.draft.command) == ["c-1"])

    let reborn = try Bench(bench.store)
    again = try reborn.run("c-1", parameters: "{}") { try reborn.tally.add(2) }
    #expect(again == Accepted(value: JSONText(2), seq: 1, version: 1, isReplayed: true))
    #expect(reborn.tally.ledger.pending.total == 2)
  }

  @Test
  func `an idempotency key of another command is refused`() throws {
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
  func `an idempotency key is free again if its write is lost`() throws {
    try bench.run("c-1") { try bench.tally.add(2) }
    bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
    let again = try bench.run("c-1") { try bench.tally.add(2) }
    #expect(!again.isReplayed)
    bench.store.commit()
    #expect(bench.tally.ledger.committed.total == 2)
  }

  @Test
  func `idempotency keys expire after a day`() throws {
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
}
