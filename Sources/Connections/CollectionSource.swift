internal import JSON
package import Model
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

/// The elements of a list or map, sent to one client in parts of one line each.
struct CollectionParts {
  /// The elements of a list, or the values of a map.
  private let values: [JSONText]

  /// The keys of a map, sorted; `nil` for a list.
  private let keys: [String]?
  private var next = 0

  init(_ collection: SourceCollection) {
    switch collection {
    case .list(let elements): (keys, values) = (nil, elements)
    case .map(let members):
      let sorted = members.sorted { $0.key < $1.key }
      (keys, values) = (sorted.map(\.key), sorted.map(\.value))
    }
  }

  var isList: Bool { keys == nil }

  /// The index of the next element.
  var index: Int { next }
  var isOver: Bool { next == values.count }

  /// Appends elements with their brackets, up to a number of bytes but at least one element.
  mutating func write(upTo limit: Int, to buffer: inout ByteBuffer) {
    let end = buffer.count + limit
    buffer.append(UInt8(ascii: isList ? "[" : "{"))
    let first = next
    while next < values.count {
      let start = buffer.count
      if let keys { buffer.key(quoted: keys[next]) } else { buffer.separate() }
      buffer.append(values[next].text)
      guard next == first || buffer.count < end else {
        buffer.truncate(to: start)
        break
      }
      next += 1
    }
    buffer.append(UInt8(ascii: isList ? "]" : "}"))
  }
}
