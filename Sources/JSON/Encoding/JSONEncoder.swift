/// Encodes `Encodable` values as compact JSON, with members in encoding order.
///
/// Create one encoder and reuse it: it keeps its memory between values. Use it on one thread only.
/// Containers are written one after another: a hand-written `encode(to:)` that returns to an outer
/// container closes the inner one.
public final class JSONEncoder {
  private let target = EncodingTarget()

  /// Creates an encoder.
  public init() {}

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

/// An error for a value that JSON cannot represent.
public struct JSONEncodingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// A one-sentence message for people.
  public let description: String
}
