import API
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

/// One user gets at most half of each limit that all users share.
@Suite(.leavesNothing)
struct ShareTests {
  private let store = MemoryStore()
  private let host: ServiceHost

  init() {
    host = ServiceHost(store: store)
    host.owners = [0, 500]
  }

  /// Repeats an action of a user until it is refused; returns the count and the refusal.
  private func tries(_ uid: UInt32, _ body: (Int) throws -> Void) -> (count: Int, refusal: String) {
    for i in 0..<2_000 {
      do throws(Refusal) {
        let command = Command(method: "m", caller: Peer(uid: uid, pid: 1))
        _ = try host.perform(command) {
          try body(i)
          return nil
        }
      } catch {
        guard case .service(let fault) = error else { return (i, "\(error)") }
        #expect(fault.kind == .rejected(reason: "too_many"))
        return (i, "\(fault)")
      }
    }
    return (2_000, "")
  }

  @Test
  func `one user can create half of the readers, and administrators all of them`() throws {
    let readers = ReadersService(in: host)
    try host.start()
    let first = tries(7) { try readers.open("a\($0)", at: 0) }
    #expect(first.count == 500)
    #expect(first.refusal.hasPrefix("the daemon keeps at most 500 readers of one user"))
    try host.run { try readers.acknowledge("a1", upTo: 5) }
    _ = try host.run { try readers.remove("a0") }
    #expect(tries(7) { try readers.open("b\($0)", at: 0) }.count == 1)
    let rest = tries(500) { try readers.open("c\($0)", at: 0) }
    #expect(rest.count == 500)
    #expect(rest.refusal == "the daemon keeps at most 1000 readers")
  }

  @Test
  func `one user can create half of the bindings, also after a restart`() throws {
    let bindings = BindingsService(in: host)
    try host.start()
    let first = tries(7) { try bindings.add("a\($0)", "cells/a ~> cells/b") }
    #expect(first.count == 500)
    #expect(first.refusal.hasPrefix("the daemon keeps at most 500 bindings of one user"))
    store.commit()
    host.saveSnapshots()
    store.commit()
    let again = ServiceHost(store: store)
    let restarted = BindingsService(in: again)
    try again.start()
    #expect(restarted.ledger.pending.maker(of: "bindings/a3") == 7)
    #expect(throws: Refusal.self) {
      try again.perform(Command(method: "m", caller: Peer(uid: 7, pid: 1))) {
        try restarted.add("more", "cells/a ~> cells/b")
        return nil
      }
    }
    #expect(tries(8) { try bindings.add("b\($0)", "cells/a ~> cells/b") }.count == 500)
  }

  @Test
  func `an old snapshot without creators is read`() throws {
    let old = JSONText(trusted: #"{"positions":{"readers/x":3}}"#)
    let state = try #require(Readers(kept: old, by: EventCoder()))
    #expect(state["x"] == 3)
  }
}
