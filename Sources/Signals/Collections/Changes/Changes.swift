/// What changed in a collection, without the collection: it must not be shared, so that the next
/// change need not copy it.
@usableFromInline
package enum Changes<Operation, Diff: CollectionDiffProtocol> {
  /// Anything: look at the collection as a whole.
  case whole
  /// One step.
  case one(Operation)
  /// Any number of steps, in either form.
  case several(SeveralChanges<Operation, Diff>)

  /// These steps; no step means that nothing is known.
  @inlinable
  package static func patch(_ patch: [Operation]) -> Changes {
    switch patch.count {
    case 0: .whole
    case 1: .one(patch[0])
    default: .several(SeveralChanges(patch: patch, diff: nil))
    }
  }

  /// What the diff says; an empty one says that nothing is known.
  @inlinable
  package static func diff(_ diff: Diff) -> Changes {
    diff.isEmpty ? .whole : .several(SeveralChanges(patch: nil, diff: diff))
  }

  /// Whether nothing is known of what changed.
  @inlinable
  package var isWhole: Bool {
    if case .whole = self { true } else { false }
  }
}

/// Changes in one form, and in the other as soon as somebody asked for it.
@usableFromInline
package final class SeveralChanges<Operation, Diff: CollectionDiffProtocol> {
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
