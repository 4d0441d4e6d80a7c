/// The text that is being written, with its open containers.
final class EncodingTarget {
  private struct Level {
    let closer: UInt8
    var isEmpty = true
  }

  private(set) var buffer = ByteBuffer()
  private var levels: [Level] = []

  /// The number of open containers.
  var depth: Int { levels.count }

  /// Clears the buffer and writes one value.
  func write(_ value: some Encodable) throws {
    buffer.removeAll(keepingCapacity: 1 << 16)
    levels.removeAll(keepingCapacity: true)
    try append(value, [])
    close(to: 0)
  }

  // MARK: Structure

  /// Opens an object or array.
  ///
  /// Returns its level, which its writer passes to later calls.
  func open(_ opener: UInt8, _ closer: UInt8) -> Int {
    buffer.append(opener)
    levels.append(Level(closer: closer))
    return levels.count
  }

  /// Closes all containers inside a level.
  func close(to level: Int) {
    while levels.count > level, let last = levels.popLast() { buffer.append(last.closer) }
  }

  /// Begins an element of the container at a level.
  func separate(_ level: Int) {
    close(to: level)
    if levels[level - 1].isEmpty {
      levels[level - 1].isEmpty = false
    } else {
      buffer.append(UInt8(ascii: ","))
    }
  }

  /// Begins a member of the object at a level.
  func separate(_ level: Int, named name: String) {
    separate(level)
    buffer.append(quoted: name)
    buffer.append(UInt8(ascii: ":"))
  }

  // MARK: Values

  func append(_ value: Bool) { buffer.append(value ? "true" : "false") }
  func append(_ value: String) { buffer.append(quoted: value) }
  func append(integer value: some BinaryInteger) { buffer.append(integer: value) }
  func appendNull() { buffer.append("null") }

  func append(double value: Double) throws {
    guard let number = JSONNumber(value) else {
      throw JSONEncodingError(description: "JSON has no number for \(value)")
    }
    buffer.append(number.text)
  }

  func append<T: Encodable>(_ value: T, _ path: [any CodingKey]) throws {
    if T.self == JSONText.self {
      return buffer.append(unsafe unsafeBitCast(value, to: JSONText.self).text)
    }
    if T.self == JSONNumber.self {
      return buffer.append(unsafe unsafeBitCast(value, to: JSONNumber.self).text)
    }
    if T.self == JSONValue.self {
      return unsafe unsafeBitCast(value, to: JSONValue.self).write(to: &buffer)
    }
    let (start, depth) = (buffer.count, depth)
    try value.encode(to: ValueEncoder(target: self, codingPath: path))
    close(to: depth)
    if buffer.count == start { buffer.append("{}") }  // a type without properties
  }
}
