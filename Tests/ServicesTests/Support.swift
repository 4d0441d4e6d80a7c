import JSON
import Journal
import Services
import Signals

/// A host on a memory store, with one service of each kind.
final class Bench {
  let store: MemoryStore
  let host: ServiceHost
  let cells: CellsService
  let tally: TallyService
  private var clock: Int64 = 0

  init(_ store: MemoryStore? = nil, snapshotEvery: UInt64 = 100_000) throws {
    let store = store ?? MemoryStore()
    self.store = store
    host = ServiceHost(store: store, snapshotEvery: snapshotEvery)
    cells = CellsService(in: host)
    tally = TallyService(in: host)
    try host.start()
  }

  /// Runs a method as a command.
  @discardableResult
  func run(
    _ id: String? = nil, by uid: UInt32 = 1, method: String = "test.run",
    parameters: String = "",
    expecting expectations: [(stream: String, at: Expectation)] = [],
    _ body: () throws -> JSONText?
  ) throws(Refusal) -> Accepted {
    let command = Command(
      method: method, caller: Caller(uid: uid, pid: 2), id: id, parameters: parameters,
      expectations: expectations)
    return try host.perform(command, body)
  }

  func set(_ name: String, _ value: String) throws {
    try run { try cells.set(name, to: JSONText(parsing: value)) }
  }

  func value(_ source: String) -> String? { cells.ledger.value(of: source)?.text }
}

/// A minimal service with an event enum that the compiler encodes.
struct Tally: ServiceState {
  enum Event: ServiceEvent, Codable {
    case added(by: Int)
    case reset
  }

  var total = 0
  var places: [UInt64] = []

  mutating func apply(_ event: Event, at place: Place) {
    switch event {
    case .added(let by): total += by
    case .reset: total = 0
    }
    places.append(place.version)
  }

  func value(of source: String) -> JSONText? { source == "tally/total" ? JSONText(total) : nil }

  var sources: [String] { ["tally/total"] }

  static func sources(changedBy event: Event, at place: Place) -> [String] { ["tally/total"] }
}

final class TallyService {
  enum Failure: ServiceError, Equatable {
    case tooMuch
    var kind: ServiceErrorKind { .rejected(reason: "too_much") }
    var description: String { "too much" }
  }

  let ledger: Ledger<Tally>

  init(in host: ServiceHost) {
    ledger = Ledger("tally", in: host)
  }

  func add(_ number: Int) throws(Failure) -> JSONText? {
    guard ledger.newest.total + number <= 100 else { throw .tooMuch }
    ledger.record(.added(by: number))
    return JSONText(ledger.newest.total)
  }

  /// Records events, then throws.
  func addAndFail(_ number: Int) throws(Failure) -> JSONText? {
    _ = try add(number)
    _ = try add(number)
    throw .tooMuch
  }
}

/// A scheduler with manual time.
final class ManualScheduler: Scheduler {
  private var now = 0.0
  private var waiting: [(id: Int, at: Double, action: () -> Void)] = []
  private var lastID = 0

  var count: Int { waiting.count }

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    lastID += 1
    let id = lastID
    waiting.append((id, now + seconds, action))
    return BlockDisposable { [unowned self] in waiting.removeAll { $0.id == id } }
  }

  func advance(_ seconds: Double) {
    let end = now + seconds
    while let next = waiting.filter({ $0.at <= end }).min(by: { $0.at < $1.at }) {
      waiting.removeAll { $0.id == next.id }
      now = next.at
      next.action()
    }
    now = end
  }
}
