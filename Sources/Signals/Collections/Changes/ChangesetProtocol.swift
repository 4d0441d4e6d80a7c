/// A collection with what changed in it.
///
/// An empty patch, and an empty diff, say that nothing is known of the change: whoever follows
/// looks at the whole collection. So the first event of an observable collection is one, and
/// `replace(with:)` makes one.
@usableFromInline
package protocol ChangesetProtocol {
  associatedtype Collection
  associatedtype Operation
  associatedtype Diff: CollectionDiffProtocol

  /// The collection after the change.
  var collection: Collection { get }
  /// What changed, in the form in which it was told.
  var changes: Changes<Operation, Diff> { get }

  init(collection: Collection, changes: Changes<Operation, Diff>)

  /// Makes a diff of steps.
  static func diff(of patch: [Operation]) -> Diff

  /// Makes steps of a diff that leads to `collection`.
  static func patch(of diff: Diff, to collection: Collection) -> [Operation]
}

extension ChangesetProtocol {
  /// A collection and the steps that led to it.
  @inlinable
  package init(collection: Collection, patch: [Operation]) {
    self.init(collection: collection, changes: .patch(patch))
  }

  /// A collection and the diff that led to it.
  @inlinable
  package init(collection: Collection, diff: Diff) {
    self.init(collection: collection, changes: .diff(diff))
  }

  /// A collection and what led to it in both forms.
  package init(collection: Collection, patch: [Operation], diff: Diff) {
    self.init(
      collection: collection,
      changes: patch.isEmpty ? .diff(diff) : .several(SeveralChanges(patch: patch, diff: diff)))
  }

  /// The steps that lead to the collection; O(n log n) in the size of the change when it was told
  /// as a diff, and that once.
  package var patch: [Operation] {
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

  /// The change at once; O(n log n) in its size when it was told as steps, and that once.
  package var diff: Diff {
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
