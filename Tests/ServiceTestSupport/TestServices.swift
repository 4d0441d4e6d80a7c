package import EventSourcing
package import Features
package import JSON
internal import Journal
package import JournalMemory
internal import Model
package import Signals
internal import TestSupport

/// A host on a memory store, with one service of each kind.
package final class Bench {
  package let store: MemoryStore
  package let host: ServiceHost
  package let cells: CellsService
  package let tally: TallyService
  private var clock: Int64 = 0

  package init(_ store: MemoryStore? = nil, snapshotEvery: UInt64 = 100_000) throws {
    let store = store ?? MemoryStore()
    self.store = store
    host = ServiceHost(store: store, snapshotEvery: snapshotEvery)
    cells = CellsService(in: host)
    tally = TallyService(in: host)
    try host.start()
  }

  /// Runs a method as a command.
  @discardableResult
  package func run(
    _ id: String? = nil, by uid: UInt32 = 1, method: String = "test.run",
    parameters: String = "",
    expecting expectations: [(stream: String, at: Expectation)] = [],
    _ body: () throws -> JSONText?
  ) throws(Refusal) -> Accepted {
    let command = Command(
      method: method, caller: Peer(uid: uid, pid: 2), id: id, parameters: parameters,
      expectations: expectations)
    return try host.perform(command, body)
  }

  package func set(_ name: String, _ value: String) throws {
    try run { try cells.set(name, to: JSONText(parsing: value)) }
  }

  package func value(_ source: String) -> String? { cells.ledger.value(of: source)?.text }
}

/// A minimal service with an event enum that the compiler encodes.
package struct Tally: ServiceState, Codable {
  package enum Event: ServiceEvent, Codable {
    case added(by: Int)
    case reset

    package static let kinds: Set = ["added", "reset"]
  }

  package init() {}

  package var total = 0
  package var places: [UInt64] = []

  package mutating func apply(_ event: Event, at place: EventContext) {
    switch event {
    case .added(let by): total += by
    case .reset: total = 0
    }
    places.append(place.version)
  }

  package func value(of source: String) -> JSONText? {
    source == "tally/total" ? JSONText(total) : nil
  }

  package var sources: [String] { ["tally/total"] }

  package static func sources(changedBy event: Event, at place: EventContext) -> [String] {
    ["tally/total"]
  }
}

package final class TallyService {
  package enum Failure: ServiceError, Equatable {
    case tooMuch
    package var kind: ServiceErrorKind { .rejected(reason: "too_much") }
    package var description: String { "too much" }
  }

  package let ledger: Ledger<Tally>

  package init(in host: ServiceHost) {
    ledger = Ledger("tally", in: host)
  }

  package func add(_ number: Int) throws(Failure) -> JSONText? {
    guard ledger.pending.total + number <= 100 else { throw .tooMuch }
    ledger.record(.added(by: number))
    return JSONText(ledger.pending.total)
  }

  /// Records events, then throws.
  package func addAndFail(_ number: Int) throws(Failure) -> JSONText? {
    _ = try add(number)
    _ = try add(number)
    throw .tooMuch
  }
}

/// A scheduler with manual time.
package final class ManualScheduler: Scheduler {
  package init() {}

  private var now = 0.0
  private var waiting: [(id: Int, at: Double, action: () -> Void)] = []
  private var lastID = 0

  package var count: Int { waiting.count }

  package func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    lastID += 1
    let id = lastID
    waiting.append((id, now + seconds, action))
    return BlockDisposable { [unowned self] in waiting.removeAll { $0.id == id } }
  }

  package func advance(_ seconds: Double) {
    let end = now + seconds
    while let next = waiting.filter({ $0.at <= end }).min(by: { $0.at < $1.at }) {
      waiting.removeAll { $0.id == next.id }
      now = next.at
      next.action()
    }
    now = end
  }
}
