internal import Journal
internal import Signals

/// Saves the state of the services now and then, so that a start replays a tail and not a life.
///
/// A snapshot is folded from the journal itself, on another thread: the loop does not stop for it,
/// however large the state is.
final class Snapshotting {
  /// Told when a snapshot could not be made; the next is tried as if it had been.
  var onFailure: (JournalFault) -> Void = { _ in }

  private let store: any EventStore
  private let interval: UInt64
  private(set) var makeFolds: [String: @Sendable () -> any Fold] = [:]

  /// Those of the services of which snapshots are kept: who has events that this program does not
  /// know is left out.
  private(set) var keptFolds: [String: @Sendable () -> any Fold] = [:]

  /// The position of the last snapshot.
  private(set) var saved: UInt64 = 0

  /// The position of the last one that was tried.
  private var tried: UInt64 = 0

  /// Where one could not be kept: it fails once for each service, and is told once.
  private var failed: UInt64?

  /// How far the journal has gone on while the last snapshot was made: under load the next one
  /// waits for several times as many events, so that making them never takes most of a processor.
  private var cost: UInt64 = 0
  private var startedAt: UInt64 = 0
  private var reached: UInt64 = 0
  private var isSaving = false
  private let bag = DisposeBag()

  init(store: any EventStore, every interval: UInt64) {
    precondition(interval > 0, "a snapshot after every 0 events")
    self.store = store
    self.interval = interval
  }

  /// - Parameter seq: The position of the oldest snapshot there is.
  func start(ledgers: [LedgerLink], from seq: UInt64) {
    for ledger in ledgers {
      makeFolds[ledger.service] = ledger.makeFold
      if ledger.unknown().first == nil { keptFolds[ledger.service] = ledger.makeFold }
    }
    makeFolds[JournalFold.service] = { JournalFold() }
    keptFolds[JournalFold.service] = { JournalFold() }
    (saved, tried) = (seq, seq)
    store.saved.observeNext { [unowned self] report in
      guard let failure = report.failure, report.seq != failed else { return }
      failed = report.seq
      onFailure(.unavailable(detail: failure))
    }
    .dispose(in: bag)
  }

  /// Makes snapshots as of a position, away from the others, and emits once all of them are kept.
  func keep(at seq: UInt64) -> Signal<UInt64, JournalFault> {
    Signal { [self] observer in
      let makeFolds = keptFolds
      let bag = DisposeBag()
      var waiting = makeFolds.count
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
        try reader.fold(makeFolds, upTo: seq).values.map { $0.snapshot(at: seq) }
      }
      .observe { [store] event in
        switch event {
        case .next(let snapshots): for snapshot in snapshots { store.save(snapshot) }
        case .failed(let error): observer.fail(JournalFault(error))
        case .completed: break
        }
      }
      .dispose(in: bag)
      return bag
    }
  }

  /// The journal is durable up to a position.
  func advance(to seq: UInt64) {
    reached = seq
    let since = seq - tried
    guard since >= interval else { return }
    if since >= min(4 * cost, Self.longestTail) { save(at: seq) }
  }

  /// Saves the state as of a position, unless that is done or being done.
  private func save(at seq: UInt64) {
    guard !isSaving, seq > tried else { return }
    let makeFolds = keptFolds
    let reading = store.reading(.long) { reader throws(JournalError) in
      try reader.fold(makeFolds, upTo: seq).values.map { $0.snapshot(at: seq) }
    }
    isSaving = true
    (tried, startedAt, reached) = (seq, seq, seq)
    reading.observe { [unowned self] event in
      switch event {
      case .next(let snapshots):
        for snapshot in snapshots { store.save(snapshot) }
        saved = seq
      case .failed(let error):
        isSaving = false
        onFailure(JournalFault(error))
      case .completed:
        isSaving = false
        cost = reached - startedAt
      }
    }
    .dispose(in: bag)
  }

  /// After this many events a snapshot is made whatever it costs.
  private static let longestTail: UInt64 = 2_000_000
}
