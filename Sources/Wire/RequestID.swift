internal import JSON

/// A request identifier as it was written: `1.0` stays `1.0`.
///
/// Identifiers of up to 16 bytes need no allocation.
public struct RequestID: Hashable, Sendable {
  /// The bytes of a short identifier, little-endian; 0 after its end.
  private let first: UInt64
  private let second: UInt64

  /// The number of bytes of a short identifier; 0 for a long one.
  private let count: Int

  /// A long identifier; `nil` for a short one.
  private let long: Long?

  /// An identifier of more than 16 bytes.
  ///
  /// A class, because most identifiers are short, and copying an absent one costs nothing.
  private final class Long: Sendable {
    let text: String

    init(_ text: String) {
      self.text = text
    }
  }

  private init(first: UInt64 = 0, second: UInt64 = 0, count: Int = 0, long: Long? = nil) {
    (self.first, self.second, self.count, self.long) = (first, second, count, long)
  }

  /// Creates an identifier from its JSON text.
  public init(text: String) {
    let bytes = text.utf8.span
    guard bytes.count <= Self.shortCount else {
      self.init(long: Long(text))
      return
    }
    var words: (UInt64, UInt64) = (0, 0)
    for i in bytes.indices {
      let byte = UInt64(bytes[i])
      if i < 8 { words.0 |= byte << UInt64(i * 8) } else { words.1 |= byte << UInt64(i * 8 - 64) }
    }
    self.init(first: words.0, second: words.1, count: bytes.count)
  }

  /// Creates an identifier from a part of a line that a ``JSONScanner`` has accepted as one value.
  init(scanned place: Range<Int>, of line: Span<UInt8>) {
    let (start, count) = (place.lowerBound, place.count)
    guard count <= Self.shortCount, start &+ Self.shortCount <= line.count else {
      self.init(text: JSONText(scanned: line.extracting(place)).text)
      return
    }
    let raw = unsafe line.bytes
    let low = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: start, as: UInt64.self)
    let high = unsafe raw.unsafeLoadUnaligned(fromUncheckedByteOffset: start &+ 8, as: UInt64.self)
    let unused = UInt64(truncatingIfNeeded: (Self.shortCount &- count) &* 8)
    // A shift by 64 or more gives 0.
    let first = UInt64(littleEndian: low) & (unused > 64 ? .max >> (unused &- 64) : .max)
    let second = UInt64(littleEndian: high) & (.max >> unused)
    // A number and `null` have no white space.
    if first & 0xFF != 0x22 || JSONText.isCompact(first, second, count: count) {
      self.init(first: first, second: second, count: count)
    } else {
      self.init(text: JSONText(scanned: line.extracting(place)).text)
    }
  }

  private static let shortCount = 16

  /// `null`, for requests without a readable identifier.
  public static let null = RequestID(text: "null")

  /// JSON text: a string, a number or `null`.
  public var text: String {
    if let long { return long.text }
    var buffer = ByteBuffer()
    write(to: &buffer)
    return buffer.string
  }

  /// Appends ``text``.
  @inline(__always)
  func write(to buffer: inout ByteBuffer) {
    if let long {
      buffer.append(long.text)
    } else {
      buffer.append(littleEndian: first, second, count: count)
    }
  }

  /// Returns whether two identifiers were written in the same way.
  public static func == (left: Self, right: Self) -> Bool {
    left.first == right.first && left.second == right.second && left.count == right.count
      && left.long?.text == right.long?.text
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(first)
    hasher.combine(second)
    hasher.combine(long?.text)
  }
}
