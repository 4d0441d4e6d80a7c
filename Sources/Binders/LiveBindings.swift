internal import Facts
internal import Services
internal import Signals

/// The bindings that live, so that none is made that would go in a circle.
package final class LiveBindings {
  package init() {}

  /// By a number of their own, in the order in which they were made.
  private var bindings: [Int: LiveBinding] = [:]
  private var lastNumber = 0
  private var graph = BindingGraph()

  private var inOrder: [LiveBinding] { bindings.sorted { $0.key < $1.key }.map(\.value) }

  /// Those that the daemon keeps because the journal says so, by name, with all that was decided.
  private(set) var kept: [String: LiveBinding] = [:]

  /// Those that stand in files, by name.
  var filed: [String: FiledBinding] = [:]

  /// Calls back later; `nil` where nobody does: then what is lost waits for the next commit.
  var scheduler: (any Scheduler)?

  /// The time, in microseconds since 1970.
  private(set) var now: () -> Int64 = { 0 }

  /// What bindings have written and is not durable, in order.
  private var written = Queue<Written>()

  /// What was written and is lost is passed on again.
  private lazy var retries = BindingRetries { [unowned self] in
    for binding in inOrder { binding.retry() }
  }

  private struct Written {
    let binding: LiveBinding
    let side: BindSide
    let seq: UInt64

    /// How many failures the binding had had before.
    let failureCount: Int
  }

  /// What was decided on ``kept`` and is not durable, in order.
  private var undecided: [Decision] = []
  private var isFollowing = false
  private let bag = DisposeBag()

  private enum Decision {
    case begun(LiveBinding, name: String, seq: UInt64)
    case ended(LiveBinding, name: String, seq: UInt64)

    var seq: UInt64 {
      switch self {
      case .begun(_, _, let seq), .ended(_, _, let seq): seq
      }
    }
  }

  func add(_ binding: LiveBinding) {
    lastNumber += 1
    binding.number = lastNumber
    bindings[lastNumber] = binding
    graph.change(binding.expression, count: 1)
  }

  func remove(_ binding: LiveBinding) {
    guard bindings.removeValue(forKey: binding.number) != nil else { return }
    graph.change(binding.expression, count: -1, ending: binding.isEnding ? -1 : 0)
  }

  private func set(_ binding: LiveBinding, isEnding: Bool) {
    guard binding.isEnding != isEnding else { return }
    binding.isEnding = isEnding
    guard bindings[binding.number] != nil else { return }
    graph.change(binding.expression, count: 0, ending: isEnding ? 1 : -1)
  }

  /// Ends all that live; what they bind knows them, and they what they bind.
  func end() {
    bag.dispose()
    retries.stop()
    for binding in inOrder { binding.dispose() }
    (kept, filed, undecided) = ([:], [:], [])
    written = Queue()
  }

  // MARK: What the journal keeps

  /// Follows what becomes of what is recorded; once, however many bind clients to the service.
  func follow(_ service: BindingsService, _ host: ServiceHost) {
    guard !isFollowing else { return }
    isFollowing = true
    service.ledger.changes(matching: .everything).observeNext { [unowned self] in decide($0.seq) }
      .dispose(in: bag)
    now = { [unowned host] in host.now }
    host.progress.observeNext { [unowned self] in settle(upTo: $0) }.dispose(in: bag)
    host.rejected.observeNext { [unowned self] fault in
      undo()
      lose(fault)
    }
    .dispose(in: bag)
    host.failed.observeNext { [unowned self] _ in undo() }.dispose(in: bag)
  }

  // MARK: What is written

  func noteWritten(
    _ binding: LiveBinding, from side: BindSide, at seq: UInt64, _ failureCount: Int
  ) {
    written.append(Written(binding: binding, side: side, seq: seq, failureCount: failureCount))
  }

  private func settle(upTo seq: UInt64) {
    while let first = written.first, first.seq <= seq {
      _ = written.popFirst()
      first.binding.settle(first.failureCount)
      retries.noteSuccess()
    }
    retries.tryNow()
  }

  /// What was not durable is lost.
  private func lose(_ fault: JournalFault) {
    let lost = Array(written.elements).filter { !$0.binding.isDisposed }
    written = Queue()
    guard !lost.isEmpty else { return }
    var seen: Set<ObjectIdentifier> = []
    for entry in lost.reversed() where seen.insert(ObjectIdentifier(entry.binding)).inserted {
      entry.binding.lose(from: entry.side, fault)
    }
    retries.noteLoss(on: scheduler)
  }

  /// A binding lives that the journal has kept before this start.
  func restore(_ binding: LiveBinding, _ name: String) {
    kept[name] = binding
  }

  /// A binding lives that was recorded now.
  ///
  /// It passes values on at once: what it writes stands in the journal behind it, and is lost with it.
  func begin(_ binding: LiveBinding, _ name: String, at seq: UInt64) {
    kept[name] = binding
    undecided.append(.begun(binding, name: name, seq: seq))
  }

  /// A binding is to live no more, which was recorded now.
  ///
  /// It lives until that is durable: what it would not have passed on meanwhile were missing if the
  /// journal refused.
  func end(_ name: String, at seq: UInt64) {
    guard let binding = kept.removeValue(forKey: name) else { return }
    set(binding, isEnding: true)
    undecided.append(.ended(binding, name: name, seq: seq))
  }

  private func decide(_ seq: UInt64) {
    while let first = undecided.first, first.seq <= seq {
      undecided.removeFirst()
      if case .ended(let binding, _, _) = first { binding.dispose() }
    }
  }

  /// What was recorded and is not durable is lost.
  private func undo() {
    let lost = undecided
    undecided = []
    for decision in lost.reversed() {
      switch decision {
      case .begun(let binding, let name, _):
        kept[name] = nil
        binding.dispose()
      case .ended(let binding, let name, _):
        kept[name] = binding
        set(binding, isEnding: false)
      }
    }
  }

  // MARK: Circles

  /// The sources through which a value would come back to where it was, from there to there; `nil`
  /// when it would not.
  ///
  /// - Parameter isRecorded: Whether it is lost with the ends of others if the journal refuses them;
  ///   one that is not may meet those that end and then do not.
  func circle(with expression: BindExpression, isRecorded: Bool) -> [String]? {
    graph.circle(with: expression, withoutEnding: isRecorded)
  }
}
