/// Encodes `Encodable` values as compact JSON, with members in encoding order.
///
/// Create one encoder and reuse it: it keeps its memory between values. Use it on one thread only.
/// Containers are written one after another: a hand-written `encode(to:)` that returns to an outer
/// container closes the inner one.
public final class JSONEncoder {
  private let target = EncodingTarget()

  /// Creates an encoder.
  public init() {}

  // The kept containers refer to the target.
  deinit { target.forgetContainers() }

  /// Appends the JSON of a value to a buffer.
  ///
  /// - Throws: ``JSONEncodingError`` for a number that is not finite, or any error that an
  ///   `encode(to:)` throws. The buffer is unchanged then.
  public func encode(_ value: some Encodable, to buffer: inout ByteBuffer) throws {
    try target.write(value)
    buffer.append(target.buffer)
  }

  /// Returns a value as JSON text.
  ///
  /// - Throws: The same errors as ``encode(_:to:)``.
  public func text(_ value: some Encodable) throws -> JSONText {
    try target.write(value)
    return JSONText(trusted: target.buffer.string)
  }

  /// Returns a value as the bytes of its JSON text.
  ///
  /// - Throws: The same errors as ``encode(_:to:)``.
  public func bytes(_ value: some Encodable) throws -> [UInt8] {
    try target.write(value)
    return target.buffer.array
  }
}

extension JSONEncoder {
  /// The size of a JSON text.
  package struct Size: Equatable, Sendable {
    /// The number of bytes.
    package let bytes: Int

    /// Whether more arrays and objects are within each other than the limit allows.
    package let isTooDeep: Bool
  }

  /// Returns the size of a value's JSON, for which no text is made.
  ///
  /// - Parameter depth: The most arrays and objects within each other.
  /// - Throws: The same errors as ``encode(_:to:)``.
  package func size(of value: some Encodable, depth: Int) throws -> Size {
    Size(bytes: try byteCount(of: value), isTooDeep: target.isDeeper(than: depth))
  }

  /// Returns the number of bytes of a value's JSON, for which no text is made.
  ///
  /// - Throws: The same errors as ``encode(_:to:)``.
  package func byteCount(of value: some Encodable) throws -> Int {
    try target.write(value)
    return target.buffer.count
  }
}

/// An error for a value that JSON cannot represent.
public struct JSONEncodingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A one-sentence message for people.
  public let description: String
}

/// The text that is being written, with its open containers.
final class EncodingTarget {
  private struct Level {
    let closer: UInt8
    var isEmpty = true
  }

  private(set) var buffer = ByteBuffer()
  private var levels: [Level] = []

  /// The most containers that were open at a time, those within ``hasTexts`` not counted.
  private var deepest = 0

  /// Whether the value has parts that are JSON texts already.
  private var hasTexts = false

  /// The containers for objects that were made for earlier values.
  private var containers: [Kept] = []

  private struct Kept {
    let type: ObjectIdentifier
    let level: Int

    /// A ``KeptContainer`` for keys of the type.
    let object: AnyObject
  }

  /// The most containers to keep.
  private static let mostContainers = 16

  /// Whether a value was written before.
  private var isUsed = false

  /// The number of open containers.
  var depth: Int { levels.count }

  /// Clears the buffer and writes one value.
  func write(_ value: some Encodable) throws {
    buffer.removeAll(keepingCapacity: 1 << 16)
    levels.removeAll(keepingCapacity: true)
    (deepest, hasTexts) = (0, false)
    try append(value)
    close(to: 0)
    isUsed = true
  }

  /// Returns whether arrays and objects of the written value nest deeper than a limit.
  func isDeeper(than limit: Int) -> Bool {
    hasTexts ? Self.isDeeper(buffer, than: limit) : deepest > limit
  }

  private static func isDeeper(_ text: borrowing ByteBuffer, than limit: Int) -> Bool {
    text.span.isDeeper(than: limit)
  }

  // MARK: Structure

  /// Opens an object or array.
  ///
  /// Returns its level, which its writer passes to later calls.
  func open(_ opener: UInt8, _ closer: UInt8) -> Int {
    buffer.append(opener)
    levels.append(Level(closer: closer))
    if levels.count > deepest { deepest = levels.count }
    return levels.count
  }

  /// Opens an object, and returns the container for its members.
  ///
  /// To make one costs more than to write two members, so those of an encoder that is used again are
  /// kept. They have no state of their own.
  func openObject<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let level = open(UInt8(ascii: "{"), UInt8(ascii: "}"))
    let id = ObjectIdentifier(type)
    for kept in containers where kept.type == id && kept.level == level {
      return unsafe unsafeDowncast(kept.object, to: KeptContainer<Key>.self).container
    }
    let container = KeyedEncodingContainer(KeyedWriter<Key>(target: self, level: level))
    if isUsed, containers.count < Self.mostContainers {
      containers.append(Kept(type: id, level: level, object: KeptContainer(container)))
    }
    return container
  }

  func forgetContainers() { containers = [] }

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

  func append<T: Encodable>(_ value: T) throws {
    if T.self == JSONText.self {
      hasTexts = true
      return buffer.append(unsafe unsafeBitCast(value, to: JSONText.self).text)
    }
    if T.self == JSONNumber.self {
      return buffer.append(unsafe unsafeBitCast(value, to: JSONNumber.self).text)
    }
    if T.self == JSONValue.self {
      hasTexts = true
      return unsafe unsafeBitCast(value, to: JSONValue.self).write(to: &buffer)
    }
    if T.self == [JSONText].self {
      // An encoder for each element would cost ten times as much.
      hasTexts = true
      let texts = unsafe unsafeBitCast(value, to: [JSONText].self)
      buffer.append("[")
      for text in texts {
        buffer.separate()
        buffer.append(text.text)
      }
      return buffer.append("]")
    }
    let (start, depth) = (buffer.count, depth)
    try value.encode(to: ValueEncoder(target: self))
    close(to: depth)
    if buffer.count == start { buffer.append("{}") }  // a type without properties
  }
}

private final class KeptContainer<Key: CodingKey> {
  let container: KeyedEncodingContainer<Key>

  init(_ container: KeyedEncodingContainer<Key>) { self.container = container }
}
