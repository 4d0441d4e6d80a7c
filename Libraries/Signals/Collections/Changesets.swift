/// A collection with its changes.
///
/// An empty patch, like an empty diff, means that the changes are unknown: read the whole
/// collection. The first event of an observable collection is of this kind, and so is the event of
/// `replace(with:)`.
public protocol ChangesetProtocol {
  associatedtype Collection
  associatedtype Operation
  associatedtype Diff: CollectionDiffProtocol

  /// The collection after the changes.
  var collection: Collection { get }
  /// The changes, in the form in which they were made.
  var changes: Changes<Operation, Diff> { get }

  init(collection: Collection, changes: Changes<Operation, Diff>)

  /// Returns the net change of `patch`.
  static func diff(of patch: [Operation]) -> Diff

  /// Returns the operations for a diff that leads to `collection`.
  static func patch(of diff: Diff, to collection: Collection) -> [Operation]
}

extension ChangesetProtocol {
  /// Creates a changeset from the operations that led to the collection.
  public init(collection: Collection, patch: [Operation]) {
    self.init(collection: collection, changes: .patch(patch))
  }

  /// Creates a changeset from the diff that led to the collection.
  public init(collection: Collection, diff: Diff) {
    self.init(collection: collection, changes: .diff(diff))
  }

  /// Creates a changeset from both forms of the same changes.
  public init(collection: Collection, patch: [Operation], diff: Diff) {
    self.init(
      collection: collection,
      changes: patch.isEmpty ? .diff(diff) : .several(SeveralChanges(patch: patch, diff: diff)))
  }

  /// The operations that lead to the collection, in order; empty if unknown.
  ///
  /// If the changes were made as a diff, the first access takes O(n log n) in their number.
  public var patch: [Operation] {
    switch changes {
    case .whole: return []
    case .one(let operation): return [operation]
    case .several(let several):
      if let patch = several.patch { return patch }
      let patch = several.diff.map { Self.patch(of: $0, to: collection) } ?? []
      several.patch = patch
      return patch
    }
  }

  /// The net change; empty if unknown.
  ///
  /// If the changes were made as several operations, the first access takes O(n log n) in their
  /// number.
  public var diff: Diff {
    switch changes {
    case .whole: return Diff()
    case .one(let operation): return Self.diff(of: [operation])
    case .several(let several):
      if let diff = several.diff { return diff }
      let diff = Self.diff(of: several.patch ?? [])
      several.diff = diff
      return diff
    }
  }
}

/// The changes to a collection, without the collection itself: a second reference would force the
/// next mutation to copy it.
public enum Changes<Operation, Diff: CollectionDiffProtocol> {
  /// Unknown changes: read the whole collection.
  case whole
  /// One operation.
  case one(Operation)
  /// Any number of changes, as a patch or as a diff.
  case several(SeveralChanges<Operation, Diff>)

  /// Returns the changes made by `patch`.
  ///
  /// An empty patch means that the changes are unknown.
  public static func patch(_ patch: [Operation]) -> Changes {
    switch patch.count {
    case 0: .whole
    case 1: .one(patch[0])
    default: .several(SeveralChanges(patch: patch, diff: nil))
    }
  }

  /// Returns the changes that `diff` describes.
  ///
  /// An empty diff means that the changes are unknown.
  public static func diff(_ diff: Diff) -> Changes {
    diff.isEmpty ? .whole : .several(SeveralChanges(patch: nil, diff: diff))
  }

  /// Whether the changes are unknown.
  public var isWhole: Bool {
    if case .whole = self { true } else { false }
  }
}

/// Changes in one form; the other form is computed and stored on first use.
public final class SeveralChanges<Operation, Diff: CollectionDiffProtocol> {
  var patch: [Operation]?
  var diff: Diff?

  init(patch: [Operation]?, diff: Diff?) {
    self.patch = patch
    self.diff = diff
  }
}

/// A type that can be created empty.
public protocol Instantiatable {
  init()
}

extension Array: Instantiatable {}
extension ContiguousArray: Instantiatable {}
extension ArraySlice: Instantiatable {}
extension Set: Instantiatable {}
extension Dictionary: Instantiatable {}

/// The net change of a collection.
public protocol CollectionDiffProtocol: Instantiatable {
  /// Whether it describes no change.
  var isEmpty: Bool { get }
}

/// A list with its changes.
public protocol OrderedCollectionChangesetProtocol: ChangesetProtocol
where
  Collection: Swift.Collection, Collection.Index == Int,
  Operation == OrderedCollectionOperation<Collection.Element, Int>,
  Diff == OrderedCollectionDiff<Int>
{
  /// The changeset as its concrete type.
  var asOrderedCollectionChangeset: OrderedCollectionChangeset<Collection> { get }
}

/// A list with its changes.
public struct OrderedCollectionChangeset<Collection: Swift.Collection>:
  OrderedCollectionChangesetProtocol
where Collection.Index == Int {
  /// The type of the operations on the list.
  public typealias Operation = OrderedCollectionOperation<Collection.Element, Int>
  /// The type of the net change.
  public typealias Diff = OrderedCollectionDiff<Int>

  /// The collection after the changes.
  public let collection: Collection
  /// The changes, in the form in which they were made.
  public let changes: Changes<Operation, Diff>

  /// Creates a changeset from a collection and the changes that led to it.
  public init(collection: Collection, changes: Changes<Operation, Diff>) {
    self.collection = collection
    self.changes = changes
  }

  /// Returns the net change of `patch`.
  public static func diff(of patch: [Operation]) -> Diff {
    Diff(from: patch)
  }

  /// Returns the operations for a diff that leads to `collection`.
  public static func patch(of diff: Diff, to collection: Collection) -> [Operation] {
    diff.generatePatch(to: collection)
  }

  /// The changeset itself.
  public var asOrderedCollectionChangeset: OrderedCollectionChangeset { self }
}

/// An operation on a list or a tree; the operations of a patch are applied in order.
public enum OrderedCollectionOperation<Element, Index> {
  case insert(Element, at: Index)
  case delete(at: Index)
  case update(at: Index, newElement: Element)
  /// Removes the element at `from`, then inserts it at `to` in the rest.
  case move(from: Index, to: Index)
}

/// An operation without its element.
public enum AnyOrderedCollectionOperation<Index> {
  case insert(at: Index)
  case delete(at: Index)
  case update(at: Index)
  /// Removes the element at `from`, then inserts it at `to` in the rest.
  case move(from: Index, to: Index)
}

extension OrderedCollectionOperation {
  /// Returns the operation with its element transformed.
  public func mapElement<Output>(
    _ transform: (Element) -> Output
  ) -> OrderedCollectionOperation<Output, Index> {
    switch self {
    case .insert(let element, let index): .insert(transform(element), at: index)
    case .delete(let index): .delete(at: index)
    case .update(let index, let element): .update(at: index, newElement: transform(element))
    case .move(let from, let to): .move(from: from, to: to)
    }
  }

  /// Returns the operation with its indices transformed.
  public func mapIndex<Output>(
    _ transform: (Index) -> Output
  ) -> OrderedCollectionOperation<Element, Output> {
    switch self {
    case .insert(let element, let index): .insert(element, at: transform(index))
    case .delete(let index): .delete(at: transform(index))
    case .update(let index, let element): .update(at: transform(index), newElement: element)
    case .move(let from, let to): .move(from: transform(from), to: transform(to))
    }
  }

  /// The operation without its element.
  public var asAnyOrderedCollectionOperation: AnyOrderedCollectionOperation<Index> {
    switch self {
    case .insert(_, let index): .insert(at: index)
    case .delete(let index): .delete(at: index)
    case .update(let index, _): .update(at: index)
    case .move(let from, let to): .move(from: from, to: to)
    }
  }
}

extension OrderedCollectionOperation: Equatable where Element: Equatable, Index: Equatable {}

extension AnyOrderedCollectionOperation: Equatable where Index: Equatable {}

extension OrderedCollectionOperation: CustomDebugStringConvertible {
  /// The operation as text: `D(at: 3)`.
  public var debugDescription: String {
    switch self {
    case .insert(let element, let index): "I(\(element), at: \(index))"
    case .delete(let index): "D(at: \(index))"
    case .update(let index, let element): "U(at: \(index), newElement: \(element))"
    case .move(let from, let to): "M(from: \(from), to: \(to))"
    }
  }
}

extension RangeReplaceableCollection where Index == Int {
  /// Applies an operation.
  public mutating func apply(_ operation: OrderedCollectionOperation<Element, Int>) {
    switch operation {
    case .insert(let element, let index): insert(element, at: index)
    case .delete(let index): remove(at: index)
    case .update(let index, let element):
      replaceSubrange(index..<index + 1, with: CollectionOfOne(element))
    case .move(let from, let to): move(from: from, to: to)
    }
  }

  /// Applies operations in order.
  public mutating func apply(_ patch: [OrderedCollectionOperation<Element, Int>]) {
    for operation in patch { apply(operation) }
  }

  /// Removes the element at `from`, then inserts it at `to` in the rest.
  public mutating func move(from: Int, to: Int) {
    insert(remove(at: from), at: to)
  }

  /// Removes the elements at `indices`, then inserts them at `to` in the rest, in the order of
  /// `indices`.
  public mutating func move(from indices: [Int], to: Int) {
    let elements = indices.map { self[$0] }
    for index in indices.sorted(by: >) { remove(at: index) }
    insert(contentsOf: elements, at: to)
  }
}

/// The net change of a list or a tree.
///
/// Elements that are neither deleted nor moved keep their order. Each index occurs at most once,
/// except that an updated element can also move. In a tree, no index lies inside an inserted,
/// deleted or updated subtree. The one exception: a node can move out of a deleted subtree.
public struct OrderedCollectionDiff<Index>: CollectionDiffProtocol {
  /// Indices of inserted elements, in the final collection.
  public var inserts: [Index]
  /// Indices of deleted elements, in the source collection.
  public var deletes: [Index]
  /// Indices of updated elements, in the source collection.
  public var updates: [Index]
  /// Indices of moved elements: `from` in the source collection, `to` in the final one.
  public var moves: [(from: Index, to: Index)]

  /// Creates an empty diff.
  public init() {
    self.init(inserts: [])
  }

  /// Creates a diff from the indices of its changes.
  public init(
    inserts: [Index] = [], deletes: [Index] = [], updates: [Index] = [],
    moves: [(from: Index, to: Index)] = []
  ) {
    self.inserts = inserts
    self.deletes = deletes
    self.updates = updates
    self.moves = moves
  }

  /// Whether it describes no change.
  public var isEmpty: Bool { count == 0 }

  /// The number of changes.
  public var count: Int { inserts.count + deletes.count + updates.count + moves.count }

  /// Returns a diff with each index transformed.
  public func map<Output>(_ transform: (Index) -> Output) -> OrderedCollectionDiff<Output> {
    OrderedCollectionDiff<Output>(
      inserts: inserts.map(transform), deletes: deletes.map(transform),
      updates: updates.map(transform),
      moves: moves.map { (from: transform($0.from), to: transform($0.to)) })
  }

  /// Adds the changes of another diff.
  public mutating func merge(_ other: OrderedCollectionDiff) {
    inserts += other.inserts
    deletes += other.deletes
    updates += other.updates
    moves += other.moves
  }
}

extension OrderedCollectionDiff: Equatable where Index: Equatable {
  /// Returns whether both diffs have the same changes in the same order.
  public static func == (a: OrderedCollectionDiff, b: OrderedCollectionDiff) -> Bool {
    a.inserts == b.inserts && a.deletes == b.deletes && a.updates == b.updates
      && a.moves.elementsEqual(b.moves, by: ==)
  }
}

extension OrderedCollectionDiff: CustomDebugStringConvertible {
  /// The indices of all changes as text.
  public var debugDescription: String {
    "Inserts: \(inserts), Deletes: \(deletes), Updates: \(updates), Moves: \(moves)"
  }
}
