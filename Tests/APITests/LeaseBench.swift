import API
import BinderTesting
import Configuration
import Connections
import EventSourcing
import Features
import JSON
import Journal
import JournalMemory
import Model
import ServiceTestSupport
import Signals
import TestSupport
import Wire

/// A daemon in this process with leases and locks, lists and maps.
final class LeaseBench {
  let bench: Bench
  let leases: LeasesService
  let locks: LocksService

  /// The wills that could not run, with their reasons.
  private(set) var failures: [String] = []

  /// A client that reads.
  private lazy var reader = connect()

  /// The role with which wills run.
  var willRole = Role.owner

  /// The clock of the work of a turn.
  let clock = LookedAtClock()

  /// - Parameter store: The store of an earlier daemon, for a restart.
  init(_ store: MemoryStore? = nil, time: ManualTime = ManualTime()) throws {
    var made: (leases: LeasesService, locks: LocksService)?
    let clock = clock
    bench = try Bench(
      store, time: time,
      services: { parts in
        let host = parts.host
        let leases = LeasesService(in: host, on: time) { clock.look() }
        let (clients, locks) = (ClientLeases(leases), LocksService(in: host))
        made = (leases, locks)
        let (lists, maps) = (ListsService(in: host), MapsService(in: host))
        let programs = Programs(in: host)
        return { catalog in
          bindLeases(catalog, to: leases, clients)
          bindLocks(catalog, to: locks, clients)
          bindLists(catalog, to: lists)
          bindMaps(catalog, to: maps)
          bindPrograms(catalog, to: programs)
          bindUndo(catalog)
        }
      })
    guard let made else { preconditionFailure("a bench makes its services") }
    (leases, locks) = made
    bench.endServices = { made.leases.stop() }
    leases.onFailure = { [unowned self] in failures.append("\($0): \($1)") }
    leases.will = { [unowned self] calls, owner throws(WireError) in
      let connection = bench.table.connect(owner)
      defer { connection.end() }
      let context = CallContext(bench.rights[willRole], connection)
      return LeasesService.Will(
        steps: try context.steps(ofCalls: calls), mayRecord: context.access.rights.mayRecord)
    }
    leases.start()
  }

  /// Starts a daemon on the journal of this one, which does not stop before.
  func restarted() throws -> LeaseBench {
    bench.store.commit()
    return try LeaseBench(bench.store)
  }

  func connect(uid: UInt32 = 1000, as role: Role = .owner) -> TestClient {
    bench.connect(uid: uid, as: role)
  }

  /// Lets time pass, then commits.
  func advance(_ milliseconds: UInt64) {
    bench.time.advance(milliseconds)
    bench.store.commit()
  }

  /// Returns the durable value of a source; `nil` if it has none.
  func value(_ source: String) -> String? {
    bench.store.commit()
    return reader.result(#"{"id":1,"method":"get","params":["\#(source)"]}"#)?["value"]?.text.text
  }

  /// The types of all events, oldest first.
  var events: [String] {
    bench.store.commit()
    return bench.store.records.map { "\($0.type) \($0.stream)" }
  }
}

extension TestClient {
  /// Ends the connection, as when its program was killed.
  func disconnect() { connection.end() }
}

/// A clock that moves at each look.
final class LookedAtClock {
  var nanosecondsPerLook: UInt64 = 0
  private var now: UInt64 = 0

  func look() -> UInt64 {
    now += nanosecondsPerLook
    return now
  }
}
