/// Writes `Encodable` values as compact JSON, members in the order in which they are encoded.
///
/// An encoder keeps its memory from one value to the next, so make one and use it again. It is
/// confined to a thread. Containers are written one after another: an `encode(to:)` by hand that
/// goes back to an outer container ends the inner one.
public final class JSONEncoder {
  private let target = EncodingTarget()

  /// An encoder.
  public init() {}

  /// Appends a value to a buffer.
  ///
  /// - Throws: ``JSONEncodingError`` for a number that is not finite, and whatever an
  ///   `encode(to:)` throws; nothing has been appended then.
  public func encode(_ value: some Encodable, to buffer: inout ByteBuffer) throws {
    try target.write(value)
    buffer.append(target.buffer)
  }

  /// A value as JSON text.
  ///
  /// - Throws: As ``encode(_:to:)``.
  public func text(_ value: some Encodable) throws -> JSONText {
    try target.write(value)
    return JSONText(trusted: target.buffer.string)
  }

  /// A value as the bytes of its JSON text.
  ///
  /// - Throws: As ``encode(_:to:)``.
  public func bytes(_ value: some Encodable) throws -> [UInt8] {
    try target.write(value)
    return target.buffer.array
  }
}

/// A value that JSON cannot say.
public struct JSONEncodingError: Error, Equatable, Sendable, CustomStringConvertible {
  /// One sentence for people.
  public let description: String
}
