internal import Journal
internal import Model
internal import Signals

/// Saves snapshots of the services periodically, so that a start replays only the events after
/// them.
///
/// Periodic snapshots are encoded on another thread, from copies of the states. The copies share
/// storage with the states. Snapshots of a past position are built from the journal.
final class Snapshotting {
  /// Called when a snapshot could not be saved; the next one is made as usual.
  var onFailure: (JournalError) -> Void = { _ in }

  private let store: any EventStore
  private let interval: UInt64
  private(set) var makeProjections: [String: @Sendable () -> any Projection] = [:]

  /// The projections of services that write snapshots; services with unknown events are excluded.
  private(set) var retainedProjections: [String: @Sendable () -> any Projection] = [:]

  /// The position of the last snapshot that all services have saved.
  private(set) var saved: UInt64 = 0

  /// The services whose snapshot at ``saving`` is not saved yet.
  private var unsaved: Set<String> = []
  private var saving: UInt64 = 0

  /// The position of the last attempt.
  private var tried: UInt64 = 0

  /// The position of the last failure; a failure occurs once per service but is reported once.
  private var failed: UInt64?

  /// The number of events committed while the last snapshot was made.
  ///
  /// The next one waits for several times as many, so that snapshots do not dominate the
  /// processor under load.
  private var cost: UInt64 = 0
  private var startedAt: UInt64 = 0
  private var reached: UInt64 = 0
  private var isSaving = false

  /// Whether the journal was replayed.
  private(set) var isStarted = false
  private let bag = DisposeBag()

  init(store: any EventStore, every interval: UInt64) {
    precondition(interval > 0, "a snapshot after every 0 events")
    self.store = store
    self.interval = interval
  }

  /// Starts the periodic snapshots.
  ///
  /// - Parameter seq: The position of the oldest existing snapshot.
  func start(ledgers: [AnyLedger], from seq: UInt64) {
    for ledger in ledgers { add(ledger) }
    makeProjections[JournalProjection.service] = { JournalProjection(Names()) }
    retainedProjections[JournalProjection.service] = { JournalProjection(Names()) }
    (saved, tried, isStarted) = (seq, seq, true)
    store.saved.observeNext { [unowned self] report in
      finish(report)
      guard let failure = report.failure, report.seq != failed else { return }
      failed = report.seq
      onFailure(.unavailable(detail: failure))
    }
    .dispose(in: bag)
  }

  /// Makes snapshots of a service from now on, or none if its state lacks events.
  func add(_ ledger: AnyLedger) {
    makeProjections[ledger.service] = ledger.makeProjection
    retainedProjections[ledger.service] = ledger.isKept ? ledger.makeProjection : nil
  }

  private func finish(_ report: SnapshotReport) {
    guard report.seq == saving, report.failure == nil, unsaved.remove(report.service) != nil,
      unsaved.isEmpty
    else { return }
    saved = saving
  }

  /// Makes snapshots at a position, off the loop; emits once all of them are saved.
  func keep(at seq: UInt64) -> Signal<UInt64, JournalError> {
    Signal { [self] observer in
      let makeProjections = retainedProjections
      let bag = DisposeBag()
      var waiting = makeProjections.count
      store.saved.observeNext { report in
        guard report.seq == seq else { return }
        waiting -= 1
        if let failure = report.failure { return observer.fail(.unavailable(detail: failure)) }
        guard waiting == 0 else { return }
        observer.receive(seq)
        observer.complete()
      }
      .dispose(in: bag)
      store.reading(.care) { reader throws(JournalError) in
        try reader.fold(makeProjections, upTo: seq).values.map { $0.snapshot(at: seq) }
      }
      .observe { [store] event in
        switch event {
        case .next(let snapshots): for snapshot in snapshots { store.save(snapshot) }
        case .failed(let error): observer.fail(error)
        case .completed: break
        }
      }
      .dispose(in: bag)
      return bag
    }
  }

  /// Updates the last durable position and makes snapshots if they are due.
  ///
  /// - Parameter snapshots: Returns the functions that encode the snapshots at this position.
  func advance(
    to seq: UInt64, _ snapshots: () -> [@Sendable (_ durable: UInt64) -> Snapshot]
  ) {
    reached = seq
    let since = seq - tried
    guard since >= interval else { return }
    guard since >= min(4 * cost, Self.longestTail), !isSaving else { return }
    isSaving = true
    (tried, startedAt) = (seq, seq)
    (saving, unsaved) = (seq, Set(retainedProjections.keys))
    save(snapshots()[...], at: seq)
  }

  /// Encodes and saves one snapshot after the other, so that only one text is in memory.
  private func save(
    _ snapshots: ArraySlice<@Sendable (_ durable: UInt64) -> Snapshot>, at seq: UInt64
  ) {
    guard let snapshot = snapshots.first else {
      isSaving = false
      cost = reached - startedAt
      return
    }
    let rest = Array(snapshots.dropFirst())
    store.reading(.long) { _ throws(JournalError) in snapshot(seq) }.observe { [unowned self] in
      switch $0 {
      case .next(let snapshot): store.save(snapshot)
      case .failed(let error):
        isSaving = false
        onFailure(error)
      case .completed: save(rest[...], at: seq)
      }
    }
    .dispose(in: bag)
  }

  /// The number of events after which snapshots are made at any cost.
  private static let longestTail: UInt64 = 2_000_000
}
