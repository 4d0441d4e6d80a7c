internal import Facts
internal import JSON

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
      if next > first { buffer.append(UInt8(ascii: ",")) }
      if let keys {
        buffer.append(quoted: keys[next])
        buffer.append(UInt8(ascii: ":"))
      }
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
