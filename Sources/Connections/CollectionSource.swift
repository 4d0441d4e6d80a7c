package import Facts
internal import JSON
package import Signals

/// A list or map that clients can watch step by step.
package struct CollectionSource {
  /// The full name, for example `"lists/todo"`.
  package let name: String

  /// Returns the current elements; their texts share storage with the owner's.
  package let elements: () -> SourceCollection

  /// Every step from now on.
  package let steps: Signal<CollectionStep, Never>

  package init(
    name: String, elements: @escaping () -> SourceCollection, steps: Signal<CollectionStep, Never>
  ) {
    self.name = name
    self.elements = elements
    self.steps = steps
  }
}

/// A change of a list or map.
package struct CollectionStep {
  /// The position of the event that caused the change.
  package let seq: UInt64
  package let change: CollectionChange

  package init(seq: UInt64, change: CollectionChange) {
    self.seq = seq
    self.change = change
  }
}
