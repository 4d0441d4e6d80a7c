public import JSON

/// The value of a source that reports its changes step by step.
///
/// It is a copy that costs the same for any number of elements.
@usableFromInline
package enum SourceCollection: Equatable, Sendable {
  case list(LongArray<JSONText>)
  case map(SortedMembers)

  /// The number of elements.
  package var count: Int {
    switch self {
    case .list(let elements): elements.count
    case .map(let members): members.count
    }
  }

  package var isEmpty: Bool { count == 0 }

  /// Whether it is too long to be decoded or written in one step of work.
  package var isLong: Bool { count > 1_024 }
  package var isList: Bool { if case .list = self { true } else { false } }

  /// Calls a function with the elements from an index on, and their keys in a map, until it returns
  /// `false`.
  package func forEach(from start: Int, _ body: (_ key: String?, JSONText) -> Bool) {
    switch self {
    case .list(let elements): elements.forEach(from: start) { body(nil, $0) }
    case .map(let members): members.forEach(from: start) { body($0, $1) }
    }
  }

  /// Returns whether the text of all is about as short as a number of bytes; reads no more elements
  /// than that.
  package func isShorter(than bytes: Int) -> Bool {
    var size = 0
    forEach(from: 0) { key, value in
      size += value.text.utf8.count + 1 + (key.map { $0.utf8.count + 3 } ?? 0)
      return size < bytes
    }
    return size < bytes
  }

  /// The text of all.
  package var text: JSONText {
    var buffer = ByteBuffer()
    buffer.append(UInt8(ascii: isList ? "[" : "{"))
    forEach(from: 0) { key, value in
      Self.append(key, to: &buffer)
      buffer.append(value.text)
      return true
    }
    buffer.append(UInt8(ascii: isList ? "]" : "}"))
    return JSONText(trusted: buffer.string)
  }

  /// Appends what stands before an element: a comma unless it is the first one, and the key.
  package static func append(_ key: String?, to buffer: inout ByteBuffer) {
    if let key { buffer.key(quoted: key) } else { buffer.separate() }
  }
}
