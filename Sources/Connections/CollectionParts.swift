internal import JSON

/// The elements of a list or a map on their way to one client, as many a line as it takes.
struct CollectionParts {
  private let elements: [JSONText]
  private let kind: CollectionSource.Kind
  private var next = 0

  init(_ elements: [JSONText], _ kind: CollectionSource.Kind) {
    self.elements = elements
    self.kind = kind
  }

  /// The index of the element that comes next.
  var index: Int { next }
  var isOver: Bool { next == elements.count }

  /// Appends elements with their brackets, up to a number of bytes but one at least.
  mutating func write(upTo limit: Int, to buffer: inout ByteBuffer) {
    let end = buffer.count + limit
    buffer.append(UInt8(ascii: kind == .list ? "[" : "{"))
    let first = next
    while next < elements.count {
      let element = elements[next].text
      if next > first {
        guard buffer.count + element.utf8.count + 2 <= end else { break }
        buffer.append(UInt8(ascii: ","))
      }
      buffer.append(element)
      next += 1
    }
    buffer.append(UInt8(ascii: kind == .list ? "]" : "}"))
  }
}
