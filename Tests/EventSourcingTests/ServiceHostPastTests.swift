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

/// Past values, changes and events read by a host.
@Suite(.leavesNothing)
struct ServiceHostPastTests {
  let bench: Bench
  let bag = DisposeBag()

  init() throws {
    bench = try Bench()
  }

  /// Returns the value of a source at each position from 0 to the last.
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
    try bench.run { JSONText(try bench.cells.remove("a")) }
    try bench.run { try bench.tally.add(5) }
    bench.store.commit()
    #expect(history("cells/a") == [nil, "1", "1", "1", "2", nil, nil])
    #expect(history("cells/none") == [nil, nil, nil, nil, nil, nil, nil])
    #expect(history("tally/total") == ["0", "0", "0", "4", "4", "4", "9"])
    #expect(history("nobody/none") == [nil, nil, nil, nil, nil, nil, nil])

    var error: JournalError?
    bench.host.value(of: "cells/a", at: 7).observeFailed { error = $0 }.dispose(in: bag)
    bench.store.read()
    #expect(error == .outOfRange(first: 1, last: 6))
  }

  @Test
  func `past changes equal the live ones`() throws {
    for i in 1...10 {
      try bench.set(i % 2 == 0 ? "a" : "b", "\(i)")
      try bench.run { try bench.tally.add(1) }
    }
    bench.store.commit()
    func read(_ service: String, after seq: UInt64, _ source: String) -> [SourceChange] {
      var changes: [SourceChange] = []
      bench.host.readChanges(in: service, after: seq, where: { $0 == source }, as: { $0 })
        .suppressError()
        .observeNext {
          #expect($0.end == 20)
          changes = $0.entries
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
    func page(_ signal: Signal<Page<JournalEvent>, JournalError>) throws -> Page<JournalEvent> {
      var page: Page<JournalEvent>?
      signal.suppressError().observeNext { page = $0 }.dispose(in: bag)
      bench.store.read()
      return try #require(page)
    }
    let all = EventFilter()
    let one = EventFilter(streams: [try #require(Pattern("cells/c1"))])
    let type = EventFilter(types: [try #require(Pattern("tally.added", separator: "."))])
    var found = try page(bench.host.readEvents(after: 3, limit: 100, all) { $0 })
    #expect(found.entries.map(\.seq).elementsEqual(4...103))
    #expect(found.end == 103)
    found = try page(bench.host.readEvents(after: 3, limit: 2, one) { $0 })
    #expect(found.entries.map(\.seq) == [4, 7])
    found = try page(bench.host.readEvents(after: 3, limit: 2, type) { $0 })
    #expect(found.entries.map(\.seq) == [201])
    #expect(found.end == 201)
    found = try page(bench.host.readEvents(before: nil, limit: 3, all))
    #expect(found.entries.map(\.seq) == [199, 200, 201])
    found = try page(bench.host.readEvents(before: 100, limit: 3, one))
    #expect(found.entries.map(\.seq) == [91, 94, 97])
    found = try page(bench.host.readEvents(before: nil, limit: 500, one))
    #expect(found.entries.count == 67)
    found = try page(bench.host.readEvents(before: 2, limit: 5, type))
    #expect(found.entries.isEmpty)
  }

  @Test
  func `a change to an equal value is marked as a repeat`() throws {
    var repeats: [Bool] = []
    bench.cells.ledger.changes(of: "cells/a").observeNext { repeats.append($0.isRepeat) }
      .dispose(in: bag)
    for value in ["1", "1", "2", "1"] { try bench.set("a", value) }
    bench.store.commit()
    #expect(repeats == [false, true, false, false])
  }
}
