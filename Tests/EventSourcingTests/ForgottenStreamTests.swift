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

/// The memory for names that come and go is bounded, and their versions still grow.
@Suite(.leavesNothing)
struct ForgottenStreamTests {
  let store = MemoryStore()
  let host: ServiceHost
  let cells: CellsService

  init() throws {
    host = ServiceHost(store: store)
    cells = CellsService(in: host)
    try host.start()
  }

  private func run(_ host: ServiceHost, _ body: () throws -> Void) throws {
    _ = try host.perform(Command(method: "m", caller: Peer(uid: 7, pid: 1))) {
      try body()
      return nil
    }
  }

  /// Sets and removes names one after the other.
  private func churn(_ names: some Sequence<String>, times: Int = 1) throws {
    for name in names {
      for _ in 0..<times {
        try run(host) { _ = try cells.set(name, to: JSONText(1)) }
        try run(host) { _ = try cells.remove(name) }
      }
      store.commit()
    }
  }

  private func churnAll() throws {
    try churn((0...StreamHeads.maxReleased).map { "n\($0)" })
  }

  @Test
  func `a command that fails while removals are applied leaves the others removed`() throws {
    struct Failure: Error {}
    let names = (0..<StreamHeads.maxReleased + 200).map { "n\($0)" }
    for name in names { try run(host) { _ = try cells.set(name, to: JSONText(1)) } }
    store.commit()
    for name in names { try run(host) { _ = try cells.remove(name) } }
    var left: [String] = []
    let observation = cells.ledger.happened.first().observeNext { _ in
      _ = try? run(host) {
        _ = try cells.set("other", to: JSONText(1))
        throw Failure()
      }
      left = names.filter { cells.ledger.pendingValue(of: "cells/\($0)") != nil }
    }
    store.commit()
    observation.dispose()
    #expect(left == [])
    #expect(store.appender.heads.count == StreamHeads.maxReleased)
  }

  @Test
  func `only the last names without a value are kept`() throws {
    try churn(["old"], times: 3)
    #expect(host.version(of: "cells/old") == 6)
    try churnAll()
    #expect(host.version(of: "cells/old") == 0)
    #expect(host.version(of: "cells/n0") == 0)
    #expect(host.version(of: "cells/n1") == 2)
    #expect(store.appender.heads.count == StreamHeads.maxReleased)
    // A name that comes and goes often counts once.
    try churn(["n1"], times: 20_000)
    #expect(store.appender.heads.count == StreamHeads.maxReleased)
    #expect(host.version(of: "cells/n2") == 2)
  }

  @Test
  func `a name that begins again has a higher version than before, also after a restart`() throws {
    try churn(["old"], times: 3)
    try churnAll()
    try run(host) { _ = try cells.set("old", to: JSONText(2)) }
    #expect(host.version(of: "cells/old") > 6)
    store.commit()
    host.saveSnapshots()
    store.commit()
    let again = ServiceHost(store: store)
    let service = CellsService(in: again)
    try again.start()
    #expect(again.version(of: "cells/old") == host.version(of: "cells/old"))
    try run(again) { _ = try service.set("new", to: JSONText(2)) }
    #expect(again.version(of: "cells/new") > 6)
  }

  @Test
  func `names with values and names that are not durable are never forgotten`() throws {
    try run(host) { _ = try cells.set("kept", to: JSONText(1)) }
    try run(host) { _ = try cells.set("late", to: JSONText(1)) }
    store.commit()
    try run(host) { _ = try cells.remove("late") }
    for i in 0...StreamHeads.maxReleased {
      try run(host) { _ = try cells.set("n\(i)", to: JSONText(1)) }
      try run(host) { _ = try cells.remove("n\(i)") }
    }
    #expect(host.version(of: "cells/late") == 2)
    store.commit()
    #expect(host.version(of: "cells/late") == 0)
    #expect(host.version(of: "cells/kept") == 1)
  }

  @Test
  func `the past of a forgotten name is still there`() throws {
    try run(host) { _ = try cells.set("old", to: JSONText(1)) }
    try run(host) { _ = try cells.remove("old") }
    try churnAll()
    #expect(try past(1) == "1")
    #expect(try past(2) == nil)
    #expect(try events() == [1, 2])
    try run(host) { _ = try cells.set("old", to: JSONText(2)) }
    store.commit()
    #expect(try past(store.last) == "2")
    #expect(try past(1) == "1")
    #expect(try past(2) == nil)
    #expect(try events() == [1, 2, store.last])
  }

  /// Returns the value of `cells/old` at a position.
  private func past(_ seq: UInt64) throws -> String? {
    var found: [PastValue] = []
    let observation = host.value(of: "cells/old", at: seq).observe { event in
      guard case .next(let value) = event else { return }
      found.append(value)
    }
    store.read()
    observation.dispose()
    return try #require(found.first).value?.text
  }

  /// Returns the positions of the events of `cells/old`.
  private func events() throws -> [UInt64] {
    var found: [Page<JournalEvent>] = []
    let filter = EventFilter(streams: [try #require(Pattern("cells/old"))])
    let observation = host.readEvents(before: nil, limit: 10, filter).observe { event in
      guard case .next(let page) = event else { return }
      found.append(page)
    }
    store.read()
    observation.dispose()
    return try #require(found.first).entries.map(\.seq)
  }
}
