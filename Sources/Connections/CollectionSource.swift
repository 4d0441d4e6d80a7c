package import JSON
package import Signals

/// A list or a map that clients can watch: they hear of each step, not of the whole.
package struct CollectionSource {
  package enum Kind {
    case list
    case map
  }

  /// The whole name, for example `"lists/todo"`.
  package let name: String
  package let kind: Kind

  /// The elements, for a map its members (`"key":value`), as they stand now.
  package let elements: () -> [JSONText]

  /// Every step from now on.
  package let steps: Signal<CollectionStep, Never>

  package init(
    name: String, kind: Kind, elements: @escaping () -> [JSONText],
    steps: Signal<CollectionStep, Never>
  ) {
    self.name = name
    self.kind = kind
    self.elements = elements
    self.steps = steps
  }
}

/// A list or a map has changed.
package struct CollectionStep {
  /// The position of the event that changed it.
  package let seq: UInt64

  /// The step as clients see it: `{"op":…}`.
  package let text: String

  package init(seq: UInt64, text: String) {
    self.seq = seq
    self.text = text
  }
}
