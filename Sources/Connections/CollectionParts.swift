internal import JSON

/// The elements of a list or map, sent to one client in parts of one line each.
struct CollectionParts {
  private let elements: CollectionElements
  private let kind: CollectionSource.Kind
  private var next = 0

  init(_ elements: CollectionElements, _ kind: CollectionSource.Kind) {
    self.elements = elements
    self.kind = kind
  }

  /// The index of the next element.
  var index: Int { next }
  var isOver: Bool { next == elements.count }

  /// Appends elements with their brackets, up to a number of bytes but at least one element.
  mutating func write(upTo limit: Int, to buffer: inout ByteBuffer) {
    let end = buffer.count + limit
    buffer.append(UInt8(ascii: kind == .list ? "[" : "{"))
    let first = next
    while next < elements.count {
      let start = buffer.count
      if next > first { buffer.append(UInt8(ascii: ",")) }
      elements.write(next, to: &buffer)
      guard next == first || buffer.count < end else {
        buffer.truncate(to: start)
        break
      }
      next += 1
    }
    buffer.append(UInt8(ascii: kind == .list ? "]" : "}"))
  }
}
