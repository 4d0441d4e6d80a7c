internal import Model

/// One direction of a live binding, as ``BindingOrder`` sees it.
final class BindingFlow {
  unowned let binding: LiveBinding

  /// The sources that give values, and those that receive them.
  fileprivate let inputs: [BoundSource]
  fileprivate let targets: [BoundSource]

  /// The index in ``BoundSource/readers`` of each input.
  fileprivate var places: [Int] = []

  /// A number higher than those of all flows that bring values to its sources, from 1 on: at least
  /// the number of bindings in the longest chain that ends with it.
  fileprivate(set) var rank = 1

  /// The number of values that it has written and that are not durable yet.
  fileprivate var pending = 0

  /// Whether the sources of its list have changed and it was not evaluated since.
  fileprivate var isChanged = false

  /// The number of commits before that.
  fileprivate var changedAfter = 0

  /// Whether it is in the lists of changed and of writing flows; it may be there longer than needed.
  fileprivate var isListed = (changed: false, writing: false)

  /// The last evaluation in which it was queued, and in which one of its sources was unsettled.
  fileprivate var queuedIn = 0
  fileprivate var unsettledIn = 0

  fileprivate init(_ binding: LiveBinding, from inputs: [BoundSource], to targets: [BoundSource]) {
    (self.binding, self.inputs, self.targets) = (binding, inputs, targets)
  }
}

/// A source that some binding reads or writes.
private final class BoundSource {
  let name: String

  /// The names of the sources that it is a part of.
  let wholes: [String]

  /// The flows that read it, and which of their inputs it is.
  private(set) var readers: [(flow: BindingFlow, input: Int)] = []
  var writers = 0

  /// At least the highest rank of the flows that write it.
  var top = 0

  /// The last evaluation in which it was about to change.
  var unsettledIn = 0

  init(_ name: String) {
    self.name = name
    let ends = name.utf8.enumerated().filter { $1 == UInt8(ascii: "/") }
    wholes = ends.map { String(name.prefix($0.offset)) }  // names are ASCII
  }

  var isUnused: Bool { readers.isEmpty && writers == 0 }

  func add(_ flow: BindingFlow, input: Int) {
    flow.places.append(readers.count)
    readers.append((flow, input))
  }

  func remove(_ flow: BindingFlow, input: Int) {
    let place = flow.places[input]
    guard let last = readers.popLast(), place < readers.count else { return }
    readers[place] = last
    last.flow.places[last.input] = place
  }
}

/// The order in which bindings pass values on: each after those that bring values to its sources.
///
/// A list of sources is evaluated once its sources are settled: no other binding is about to change
/// one of them, directly or through more bindings. So it does not mix old and new values.
struct BindingOrder {
  private var sources: [String: BoundSource] = [:]
  private let names = NameSet()

  /// The lists that have changed, and some that were evaluated since.
  private var changed: [BindingFlow] = []

  /// The flows with values that are not durable, and some whose values are.
  private var writing: [BindingFlow] = []

  /// The number of the last evaluation, and of the lists that it has not decided on yet.
  private var evaluation = 0
  private var undecided = 0
  private var queue = RankQueue()

  /// The number of commits so far.
  private var commits = 0

  /// Whether some binding has not passed on yet a change of its only source.
  private var isBehind = false

  /// The flows that all evaluations have examined, for tests.
  private(set) var steps = 0

  // MARK: Bindings

  /// Adds a direction of a binding.
  ///
  /// - Complexity: Changes only flows behind it whose ranks must rise.
  mutating func add(
    _ binding: LiveBinding, from inputs: [String], to targets: [String]
  ) -> BindingFlow {
    let flow = BindingFlow(binding, from: inputs.map { source($0) }, to: targets.map { source($0) })
    var rank = 1
    for (i, input) in flow.inputs.enumerated() {
      input.add(flow, input: i)
      forEachRelative(of: input) { rank = max(rank, $0.top + 1) }
    }
    for target in flow.targets { target.writers += 1 }
    var raised = RankQueue()
    raise(flow, to: rank, &raised)
    while let (next, rank) = raised.popFirst() {
      if rank > next.rank { raise(next, to: rank, &raised) }
    }
    return flow
  }

  /// Sets the rank of a flow, and adds the readers of its targets that must be raised too.
  ///
  /// Sorted by old rank, so that a reader is raised after everything that it depends on.
  private func raise(_ flow: BindingFlow, to rank: Int, _ raised: inout RankQueue) {
    flow.rank = rank
    for target in flow.targets where target.top < rank {
      target.top = rank
      forEachRelative(of: target) { source in
        for (reader, _) in source.readers
        where reader.rank <= rank && reader.binding !== flow.binding {
          raised.insert(reader, at: reader.rank, value: rank + 1)
        }
      }
    }
  }

  mutating func remove(_ flow: BindingFlow) {
    for (i, input) in flow.inputs.enumerated() { input.remove(flow, input: i) }
    for target in flow.targets { target.writers -= 1 }
    for source in flow.inputs + flow.targets
    where source.isUnused && sources.removeValue(forKey: source.name) != nil {
      names.remove(source.name)
    }
    (flow.isChanged, flow.pending) = (false, 0)
  }

  private mutating func source(_ name: String) -> BoundSource {
    if let known = sources[name] { return known }
    let source = BoundSource(name)
    sources[name] = source
    names.insert(name)
    return source
  }

  /// Calls `body` with a source, its bound ancestors and its bound descendants.
  private func forEachRelative(of source: BoundSource, _ body: (BoundSource) -> Void) {
    body(source)
    for name in source.wholes { if let whole = sources[name] { body(whole) } }
    names.search(withPrefix: source.name + "/") { name in
      if let part = sources[name] { body(part) }
      return true
    }
  }

  // MARK: Values

  /// Notes that a flow has written a value that is not durable yet.
  mutating func beginWrite(_ flow: BindingFlow) {
    flow.pending += 1
    guard !flow.isListed.writing else { return }
    flow.isListed.writing = true
    writing.append(flow)
  }

  /// Notes that a written value is durable or lost.
  func endWrite(_ flow: BindingFlow) { flow.pending = max(0, flow.pending - 1) }

  /// Notes that a source of a list has changed.
  mutating func markChanged(_ flow: BindingFlow) {
    guard !flow.isChanged else { return }
    (flow.isChanged, flow.changedAfter) = (true, commits)
    if !flow.isListed.changed {
      flow.isListed.changed = true
      changed.append(flow)
    }
    undecided += 1
    enqueue(flow)
  }

  /// Counts a commit.
  mutating func countCommit() { commits += 1 }

  /// The users with changed lists.
  var changedOwners: Set<UInt32> {
    Set(changed.lazy.filter(\.isChanged).map(\.binding.owner))
  }

  /// Returns whether a list that has changed was not evaluated.
  func hasChanged(where isMeant: (LiveBinding) -> Bool) -> Bool {
    changed.contains { $0.isChanged && isMeant($0.binding) }
  }

  // MARK: Evaluation

  /// Begins an evaluation of the changed lists.
  ///
  /// - Parameter isBehind: Whether some binding of one source of the user has not passed on a change
  ///   yet, because the user's time is over. A list with a source that bindings write then waits too.
  mutating func beginEvaluation(isBehind: Bool) {
    self.isBehind = isBehind
    evaluation += 1
    queue = RankQueue()
    changed.removeAll { flow in
      if !flow.isChanged { flow.isListed.changed = false }
      return !flow.isChanged
    }
    writing.removeAll { flow in
      if flow.pending == 0 { flow.isListed.writing = false }
      return flow.pending == 0
    }
    undecided = changed.count
    for flow in changed { enqueue(flow) }
    if undecided > 0 { for flow in writing { enqueue(flow) } }
  }

  /// Returns the next list whose sources are settled, which counts as evaluated; `nil` if there is
  /// none.
  ///
  /// - Parameter isMeant: Returns whether a binding may be evaluated now; others wait.
  ///
  /// A list does not wait for more than a number of commits, because a source that changes all the
  /// time is never settled. A chain of bindings takes one or two commits for each of them.
  mutating func next(where isMeant: (LiveBinding) -> Bool) -> LiveBinding? {
    while undecided > 0, let flow = queue.popFirst()?.flow {
      steps += 1
      flow.queuedIn = 0
      if flow.isChanged {
        undecided -= 1
        if isMeant(flow.binding), isSettled(flow) {
          flow.isChanged = false
          // Comes again at once: then it is known whether it has written a value.
          enqueue(flow)
          return flow.binding
        }
      }
      if flow.isChanged || flow.pending > 0 || flow.unsettledIn == evaluation { unsettle(flow) }
    }
    return nil
  }

  private func isSettled(_ flow: BindingFlow) -> Bool {
    let isWaiting = flow.unsettledIn == evaluation || isBehind && flow.rank > 1
    return !isWaiting || commits - flow.changedAfter > 2 * flow.rank
  }

  private mutating func enqueue(_ flow: BindingFlow) {
    guard flow.queuedIn != evaluation else { return }
    flow.queuedIn = evaluation
    queue.insert(flow, at: flow.rank, value: 0)
  }

  /// Notes that the targets of a flow are about to change.
  private mutating func unsettle(_ flow: BindingFlow) {
    var readers: [BindingFlow] = []
    for target in flow.targets where target.unsettledIn != evaluation {
      target.unsettledIn = evaluation
      forEachRelative(of: target) { source in
        for (reader, _) in source.readers where reader.unsettledIn != evaluation {
          reader.unsettledIn = evaluation
          readers.append(reader)
        }
      }
    }
    for reader in readers { enqueue(reader) }
  }
}

/// Flows in the order of their ranks, with a value for each: a binary heap.
///
/// Of equal ranks the one with the higher value comes first.
private struct RankQueue {
  private var entries: [(rank: Int, flow: BindingFlow, value: Int)] = []

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (entries[one].rank, -entries[one].value) < (entries[other].rank, -entries[other].value)
  }

  mutating func insert(_ flow: BindingFlow, at rank: Int, value: Int) {
    entries.append((rank, flow, value))
    var i = entries.count - 1
    while i > 0, isBefore(i, (i - 1) / 2) {
      entries.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  mutating func popFirst() -> (flow: BindingFlow, value: Int)? {
    guard let first = entries.first else { return nil }
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var i = 0
    while 2 * i + 1 < entries.count {
      var child = 2 * i + 1
      if child + 1 < entries.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, i) else { break }
      entries.swapAt(i, child)
      i = child
    }
    return (first.flow, first.value)
  }
}
