/// Derives one collection from another that changes.
///
/// It holds the state for one observer.
package protocol CollectionFollower {
  associatedtype Input: ChangesetProtocol
  associatedtype Output: ChangesetProtocol

  /// The derived collection.
  var collection: Output.Collection { get }

  /// Rebuilds the derived collection from `collection`.
  mutating func reset(to collection: Input.Collection)

  /// Applies a changeset and returns the derived changes; `nil` if there are none.
  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>?
}

extension SignalProtocol where Element: ChangesetProtocol {
  /// Emits the changesets of a follower.
  ///
  /// Each observer has its own follower.
  package func followed<Follower: CollectionFollower>(
    by follower: @escaping () -> Follower
  ) -> Signal<Follower.Output, Error> where Follower.Input == Element {
    Signal { observer in
      var follower = follower()
      var isFirst = true
      return observe { event in
        switch event {
        case .next(let changeset):
          var changes: Changes<Follower.Output.Operation, Follower.Output.Diff>? = .whole
          if isFirst || changeset.changes.isWhole {
            follower.reset(to: changeset.collection)
          } else {
            changes = follower.apply(changeset)
          }
          isFirst = false
          guard let changes else { return }
          observer.receive(Follower.Output(collection: follower.collection, changes: changes))
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Emits each changeset after computing its diff, so that all observers share the work.
  public func precalculateDiff() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.diff
      return changeset
    }
  }

  /// Emits each changeset after computing its patch, so that all observers share the work.
  public func precalculatePatch() -> Signal<Element, Error> {
    map { changeset in
      _ = changeset.patch
      return changeset
    }
  }
}

extension SignalProtocol where Element: OrderedCollectionChangesetProtocol {
  /// Emits the collection of transformed elements.
  ///
  /// `transform` runs once for each new or updated element.
  ///
  /// A single operation costs as much as on an array, several at once O(n).
  public func mapCollection<Output>(
    _ transform: @escaping (Element.Collection.Element) -> Output
  ) -> Signal<OrderedCollectionChangeset<[Output]>, Error> {
    followed { MappedCollection<Element, Output>(transform: transform) }
  }

  /// Emits the collection of transformed elements.
  ///
  /// `transform` runs each time an element is read; O(1).
  public func lazyMapCollection<Output>(
    _ transform: @escaping (Element.Collection.Element) -> Output
  ) -> Signal<OrderedCollectionChangeset<LazyMapCollection<Element.Collection, Output>>, Error> {
    map { changeset in
      let changes: Changes<OrderedCollectionOperation<Output, Int>, OrderedCollectionDiff<Int>> =
        switch changeset.changes {
        case .whole: .whole
        case .one(let operation): .one(operation.mapElement(transform))
        case .several: .diff(changeset.diff)
        }
      return OrderedCollectionChangeset(
        collection: changeset.collection.lazy.map(transform), changes: changes)
    }
  }
}

private struct MappedCollection<Input: OrderedCollectionChangesetProtocol, Element>:
  CollectionFollower
{
  typealias Output = OrderedCollectionChangeset<[Element]>

  let transform: (Input.Collection.Element) -> Element
  private(set) var collection: [Element] = []

  init(transform: @escaping (Input.Collection.Element) -> Element) {
    self.transform = transform
  }

  mutating func reset(to source: Input.Collection) {
    precondition(source.startIndex == 0, "a collection is followed whose indices begin at 0")
    collection = source.map(transform)
  }

  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    if case .one(let operation) = changeset.changes {
      let mapped = operation.mapElement(transform)
      collection.apply(mapped)
      return .one(mapped)
    }
    let diff = changeset.diff
    guard !diff.isEmpty else { return nil }
    let updates = Set(diff.updates)
    let origins = diff.origins(of: collection.count, in: changeset.collection.count)
    collection = origins.enumerated().map { index, origin in
      if let origin, !updates.contains(origin) { return collection[origin] }
      return transform(changeset.collection[index])
    }
    return .diff(diff)
  }
}

extension SignalProtocol where Element: OrderedCollectionChangesetProtocol {
  /// Emits the collection of included elements.
  ///
  /// Changes to other elements are not emitted.
  ///
  /// `isIncluded` runs once for each element, and again when the element is updated. A single
  /// operation costs as much as on an array, several at once O(n).
  public func filterCollection(
    _ isIncluded: @escaping (Element.Collection.Element) -> Bool
  ) -> Signal<OrderedCollectionChangeset<[Element.Collection.Element]>, Error> {
    followed { FilteredCollection<Element>(isIncluded: isIncluded) }
  }
}

private struct FilteredCollection<Input: OrderedCollectionChangesetProtocol>: CollectionFollower {
  typealias Element = Input.Collection.Element
  typealias Output = OrderedCollectionChangeset<[Element]>

  let isIncluded: (Element) -> Bool
  private(set) var collection: [Element] = []
  /// Whether each element of the source is included.
  private var flags: [Bool] = []

  init(isIncluded: @escaping (Element) -> Bool) {
    self.isIncluded = isIncluded
  }

  mutating func reset(to source: Input.Collection) {
    precondition(source.startIndex == 0, "a collection is followed whose indices begin at 0")
    flags = source.map(isIncluded)
    collection = zip(source, flags).filter(\.1).map(\.0)
  }

  mutating func apply(_ changeset: Input) -> Changes<Output.Operation, Output.Diff>? {
    if case .one(let operation) = changeset.changes {
      guard let filtered = filter(operation) else { return nil }
      collection.apply(filtered)
      return .one(filtered)
    }
    let diff = filter(changeset)
    return diff.isEmpty ? nil : .diff(diff)
  }

  /// Returns the number of included elements before an index, counted from the nearer end.
  private func rank(_ index: Int) -> Int {
    index <= flags.count / 2
      ? flags[..<index].count { $0 } : collection.count - flags[index...].count { $0 }
  }

  /// Returns the operation on the included elements; `nil` if they do not change.
  private mutating func filter(_ operation: Output.Operation) -> Output.Operation? {
    switch operation {
    case .insert(let element, let index):
      let (rank, isIncluded) = (rank(index), isIncluded(element))
      flags.insert(isIncluded, at: index)
      return isIncluded ? .insert(element, at: rank) : nil
    case .delete(let index):
      let rank = rank(index)
      return flags.remove(at: index) ? .delete(at: rank) : nil
    case .update(let index, let element):
      let (rank, was, isIncluded) = (rank(index), flags[index], isIncluded(element))
      flags[index] = isIncluded
      return switch (was, isIncluded) {
      case (true, true): .update(at: rank, newElement: element)
      case (true, false): .delete(at: rank)
      case (false, true): .insert(element, at: rank)
      case (false, false): nil
      }
    case .move(let from, let to):
      let fromRank = rank(from)
      let isIncluded = flags.remove(at: from)
      flags.insert(isIncluded, at: to)
      guard isIncluded else { return nil }
      let toRank = rank(to)
      return fromRank == toRank ? nil : .move(from: fromRank, to: toRank)
    }
  }

  /// Returns the change of the included elements.
  private mutating func filter(_ changeset: Input) -> Output.Diff {
    let (diff, source) = (changeset.diff, changeset.collection)
    let (updates, moved) = (Set(diff.updates), Set(diff.moves.map(\.from)))
    let origins = diff.origins(of: flags.count, in: source.count)
    let (old, oldRanks) = (flags, flags.ranks)
    flags = origins.enumerated().map { index, origin in
      if let origin, !updates.contains(origin) { return old[origin] }
      return isIncluded(source[index])
    }
    let newRanks = flags.ranks
    var filtered = Output.Diff()
    filtered.deletes = diff.deletes.filter { old[$0] }.map { oldRanks[$0] }
    for (index, origin) in origins.enumerated() {
      let (isWanted, rank) = (flags[index], newRanks[index])
      guard let origin, old[origin] else {
        if isWanted { filtered.inserts.append(rank) }
        continue
      }
      switch (isWanted, updates.contains(origin), moved.contains(origin)) {
      case (true, true, true):
        filtered.deletes.append(oldRanks[origin])
        filtered.inserts.append(rank)
      case (true, true, false): filtered.updates.append(oldRanks[origin])
      case (true, false, true): filtered.moves.append((from: oldRanks[origin], to: rank))
      case (true, false, false): break
      case (false, _, _): filtered.deletes.append(oldRanks[origin])
      }
    }
    collection = flags.indices.filter { flags[$0] }.map { source[$0] }
    return filtered
  }
}

extension [Bool] {
  /// For each index, the number of true elements before it.
  fileprivate var ranks: [Int] {
    var rank = 0
    return map { flag in
      defer { rank += flag ? 1 : 0 }
      return rank
    }
  }
}
