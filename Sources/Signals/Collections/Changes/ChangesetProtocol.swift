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
  @inlinable
  public init(collection: Collection, patch: [Operation]) {
    self.init(collection: collection, changes: .patch(patch))
  }

  /// Creates a changeset from the diff that led to the collection.
  @inlinable
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
