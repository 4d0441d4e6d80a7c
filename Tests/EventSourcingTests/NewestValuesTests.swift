import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import TestSupport
import Testing

/// The values of a state by number, before and after their events are durable.
@Suite(.leavesNothing)
struct NewestValuesTests {
  private struct Failure: Error {}

  @Test(arguments: 0..<20)
  func `values follow every event, commit, failure and lost write`(seed: UInt64) throws {
    let bench = try Bench()
    var random = SeededRandom(seed: seed)
    let names = (0..<6).map { "c\($0)" }
    // After the events that are durable, after each pending event with its position, and now.
    var durable: [String: String] = [:]
    var pending: [(seq: UInt64, values: [String: String])] = []
    var newest: [String: String] = [:]

    func run(fails: Bool) throws {
      let before = (newest, pending)
      _ = try? bench.run {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
          let name = names.randomElement(using: &random) ?? ""
          switch Int.random(in: 0..<4, using: &random) {
          case 0: _ = try bench.tally.add(1)
          case 1:
            if try bench.cells.remove(name) { newest[name] = nil }
          default:
            let value = String(Int.random(in: 0..<1_000_000, using: &random))
            _ = try bench.cells.set(name, to: JSONText(parsing: value))
            newest[name] = value
          }
          pending.append((bench.store.last, newest))
        }
        if fails { throw Failure() }
        return nil
      }
      if fails { (newest, pending) = before }
    }

    for _ in 0..<200 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0..<5: try run(fails: false)
      case 5: try run(fails: true)
      case 6..<9:
        bench.store.commit(Int.random(in: 1...4, using: &random))
        while let first = pending.first, first.seq <= bench.store.durable {
          durable = first.values
          pending.removeFirst()
        }
      default:
        bench.store.reject(.readOnly(reason: "ENOSPC", outcome: .none))
        (newest, pending) = (durable, [])
      }
      for name in names {
        #expect(bench.cells.ledger.pendingValue(of: "cells/\(name)")?.text == newest[name])
        #expect(bench.value("cells/\(name)") == durable[name])
      }
    }
    bench.store.commit()
    // A daemon that applies only the durable events charges as much.
    let follower = MemoryStore()
    let other = try Bench(follower)
    follower.follow(bench.store)
    #expect(follower.usage.total == bench.store.usage.total)
    for name in names { #expect(other.value("cells/\(name)") == newest[name]) }
  }
}
