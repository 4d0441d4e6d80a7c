internal import JSON
package import Model
package import Signals

/// A list or map that clients can watch step by step.
package struct CollectionSource {
  /// The full name, for example `"lists/todo"`.
  package let name: String

  /// Returns the current elements, which share storage with the owner's.
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
  /// The most elements of a part: about a millisecond of work.
  static let most = 16_384

  private let collection: SourceCollection

  /// The index of the next element.
  private(set) var index = 0

  init(_ collection: SourceCollection) { self.collection = collection }

  var isList: Bool { collection.isList }
  var isOver: Bool { index == collection.count }

  /// Appends elements with their brackets, up to a number of bytes but at least one element.
  mutating func write(upTo limit: Int, to buffer: inout ByteBuffer) {
    let end = buffer.count + limit
    let first = index
    var next = first
    buffer.append(UInt8(ascii: isList ? "[" : "{"))
    collection.forEach(from: first) { key, value in
      guard next - first < Self.most else { return false }
      let start = buffer.count
      SourceCollection.append(key, to: &buffer)
      buffer.append(value.text)
      guard next == first || buffer.count < end else {
        buffer.truncate(to: start)
        return false
      }
      next += 1
      return true
    }
    buffer.append(UInt8(ascii: isList ? "]" : "}"))
    index = next
  }
}
