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
  @inlinable
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
  @inlinable
  public static func diff(_ diff: Diff) -> Changes {
    diff.isEmpty ? .whole : .several(SeveralChanges(patch: nil, diff: diff))
  }

  /// Whether the changes are unknown.
  @inlinable
  public var isWhole: Bool {
    if case .whole = self { true } else { false }
  }
}

/// Changes in one form; the other form is computed and stored on first use.
public final class SeveralChanges<Operation, Diff: CollectionDiffProtocol> {
  @usableFromInline
  var patch: [Operation]?
  @usableFromInline
  var diff: Diff?

  @inlinable
  init(patch: [Operation]?, diff: Diff?) {
    self.patch = patch
    self.diff = diff
  }
}
