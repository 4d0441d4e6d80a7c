package import Facts
package import JSON
package import Signals

/// A list or map that clients can watch step by step.
package struct CollectionSource {
  package enum Kind {
    case list
    case map
  }

  /// The full name, for example `"lists/todo"`.
  package let name: String
  package let kind: Kind

  /// Returns the current elements.
  package let elements: () -> CollectionElements

  /// Every step from now on.
  package let steps: Signal<CollectionStep, Never>

  package init(
    name: String, kind: Kind, elements: @escaping () -> CollectionElements,
    steps: Signal<CollectionStep, Never>
  ) {
    self.name = name
    self.kind = kind
    self.elements = elements
    self.steps = steps
  }
}

/// The elements of a list or map.
///
/// Their texts share storage with the owner's.
package enum CollectionElements {
  case list([JSONText])
  case map([(key: String, value: JSONText)])

  var count: Int {
    switch self {
    case .list(let elements): elements.count
    case .map(let members): members.count
    }
  }

  /// The approximate size of all elements in bytes.
  var size: Int {
    switch self {
    case .list(let elements): elements.reduce(0) { $0 + $1.text.utf8.count + 1 }
    case .map(let members):
      members.reduce(0) { $0 + $1.key.utf8.count + $1.value.text.utf8.count + 4 }
    }
  }

  /// Appends an element; in a map as `"key":value`.
  func write(_ index: Int, to buffer: inout ByteBuffer) {
    switch self {
    case .list(let elements): buffer.append(elements[index].text)
    case .map(let members):
      buffer.append(quoted: members[index].key)
      buffer.append(UInt8(ascii: ":"))
      buffer.append(members[index].value.text)
    }
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
