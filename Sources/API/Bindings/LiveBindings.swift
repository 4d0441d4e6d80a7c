internal import Queues
internal import EventSourcing
internal import Facts
package import Signals

/// All live bindings, with the graph that prevents cycles.
package final class LiveBindings {
  /// The bindings by number, in order of creation.
  private var bindings: [Int: LiveBinding] = [:]
  private var lastNumber = 0
  private var graph = BindingGraph()

  /// - Parameter scheduler: Schedules delayed retries; without one, lost and refused values wait for
  ///   the next commit.
  package init(on scheduler: (any Scheduler)?) {
    self.scheduler = scheduler
  }

  private var inOrder: [LiveBinding] { bindings.sorted { $0.key < $1.key }.map(\.value) }

  /// The persistent bindings of the journal by name, including changes that are not durable yet.
  private(set) var kept: [String: LiveBinding] = [:]

  /// The bindings of files, by name.
  var filed: [String: FiledBinding] = [:]

  private let scheduler: (any Scheduler)?

  /// Returns the time in microseconds since 1970.
  private(set) var now: () -> Int64 = { 0 }

  /// The values that bindings have written and that are not durable yet, in order.
  private var written = Queue<Written>()

  /// Passes lost and refused values on again.
  private lazy var retries = BindingRetries { [unowned self] in
    for binding in inOrder { binding.retry() }
  }

  private struct Written {
    let binding: LiveBinding
    let side: BindSide
    let seq: UInt64

    /// The number of failures of the binding before this value.
    let failureCount: Int
  }

  /// The changes of ``kept`` that are not durable yet, in order.
  private var undecided = Queue<Decision>()
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

  /// Ends all bindings, which breaks the reference cycles with their sources.
  package func end() {
    bag.dispose()
    retries.stop()
    for binding in inOrder { binding.dispose() }
    (kept, filed, undecided, written) = ([:], [:], Queue(), Queue())
  }

  // MARK: Persistent bindings

  /// Follows the commits and failures of the journal.
  func follow(_ service: BindingsService, _ host: ServiceHost) {
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

  // MARK: Written values

  func noteWritten(
    _ binding: LiveBinding, from side: BindSide, at seq: UInt64, _ failureCount: Int
  ) {
    written.append(Written(binding: binding, side: side, seq: seq, failureCount: failureCount))
  }

  /// Schedules a retry of a value that was refused before it was written.
  func noteRefused() { retries.noteRefusal(on: scheduler) }

  private func settle(upTo seq: UInt64) {
    while let first = written.first, first.seq <= seq {
      _ = written.popFirst()
      first.binding.settle(first.failureCount)
      retries.noteSuccess()
    }
    retries.tryNow()
  }

  /// Marks written values that are not durable as lost.
  private func lose(_ fault: JournalError) {
    let lost = written.filter { !$0.binding.isDisposed }
    written = Queue()
    guard !lost.isEmpty else { return }
    var seen: Set<ObjectIdentifier> = []
    for entry in lost.reversed() where seen.insert(ObjectIdentifier(entry.binding)).inserted {
      entry.binding.lose(from: entry.side, fault)
    }
    retries.noteLoss(on: scheduler)
  }

  /// Adds a persistent binding that was created before this start.
  func restore(_ binding: LiveBinding, _ name: String) {
    kept[name] = binding
  }

  /// Adds a persistent binding that was recorded now.
  ///
  /// It passes values on at once. The events that it records follow its own event in the journal,
  /// so they are lost together with it.
  func begin(_ binding: LiveBinding, _ name: String, at seq: UInt64) {
    kept[name] = binding
    undecided.append(.begun(binding, name: name, seq: seq))
  }

  /// Marks a persistent binding whose end was recorded now.
  ///
  /// The binding stays active until its end is durable. Otherwise values would be missing if the
  /// journal refused the end.
  func end(_ name: String, at seq: UInt64) {
    guard let binding = kept.removeValue(forKey: name) else { return }
    set(binding, isEnding: true)
    undecided.append(.ended(binding, name: name, seq: seq))
  }

  private func decide(_ seq: UInt64) {
    while let first = undecided.first, first.seq <= seq {
      _ = undecided.popFirst()
      if case .ended(let binding, _, _) = first { binding.dispose() }
    }
  }

  /// Undoes the changes of ``kept`` that are not durable.
  private func undo() {
    let lost = undecided
    undecided.removeAll()
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

  // MARK: Cycles

  /// Returns the cycle that an additional expression would close, from a source back to itself;
  /// `nil` if there is none.
  ///
  /// - Parameter isRecorded: Whether the binding is an event in the journal. If so, bindings that
  ///   are ending are ignored: if the journal refuses their end, the new binding is lost too.
  func circle(with expression: BindExpression, isRecorded: Bool) -> [String]? {
    graph.circle(with: expression, withoutEnding: isRecorded)
  }
}
