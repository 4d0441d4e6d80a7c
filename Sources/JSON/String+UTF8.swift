extension String {
  /// Returns whether two strings have the same UTF-8 bytes.
  ///
  /// `==` also accepts canonically equivalent strings, and comparing two UTF-8 views costs a
  /// nanosecond per byte.
  @inlinable
  public func hasSameBytes(as other: String) -> Bool {
    utf8.span.hasSameBytes(as: other.utf8.span)
  }
}

extension Span<UInt8> {
  /// Returns whether two spans have the same bytes.
  @inlinable
  @inline(__always)
  public func hasSameBytes(as other: Span<UInt8>) -> Bool {
    let count = count
    guard count == other.count else { return false }
    let (a, b) = unsafe (bytes, other.bytes)
    // Equal strings often share storage.
    let isSame = unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in unsafe a.baseAddress == b.baseAddress }
    }
    if isSame { return true }
    var i = 0
    while i &+ 8 <= count {
      let x = unsafe a.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      let y = unsafe b.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      if x != y { return false }
      i &+= 8
    }
    while i < count {
      if unsafe self[unchecked: i] != other[unchecked: i] { return false }
      i &+= 1
    }
    return true
  }
}

/// A text as a key that is compared by its bytes.
///
/// A `String` is equal to others that are canonically equivalent: `é` is one scalar or two.
package struct ExactText: Hashable, Sendable {
  private let text: String

  package init(_ text: String) { self.text = text }

  package static func == (left: Self, right: Self) -> Bool {
    left.text.hasSameBytes(as: right.text)
  }

  /// Hashes the text; equivalent texts have the same hash.
  package func hash(into hasher: inout Hasher) { text.hash(into: &hasher) }
}

/// Validates UTF-8 sequences of more than one byte.
///
/// Well-formed sequences follow The Unicode Standard, table 3-7. It excludes overlong forms,
/// surrogates (CESU-8) and values above U+10FFFF.
enum UTF8Sequence {
  /// Returns the offset after the sequence that begins at `start`.
  ///
  /// - Throws: ``JSONFault/Reason/badUTF8`` at `start`.
  static func end(in bytes: Span<UInt8>, at start: Int) throws(JSONFault) -> Int {
    let lead = bytes[start]
    let second: ClosedRange<UInt8>
    let count: Int
    switch lead {
    case 0xC2...0xDF: (second, count) = (0x80...0xBF, 2)
    case 0xE0: (second, count) = (0xA0...0xBF, 3)
    case 0xED: (second, count) = (0x80...0x9F, 3)
    case 0xE1...0xEF: (second, count) = (0x80...0xBF, 3)
    case 0xF0: (second, count) = (0x90...0xBF, 4)
    case 0xF1...0xF3: (second, count) = (0x80...0xBF, 4)
    case 0xF4: (second, count) = (0x80...0x8F, 4)
    default: throw JSONFault(offset: start, reason: .badUTF8)
    }
    guard start + count <= bytes.count, second ~= bytes[start + 1] else {
      throw JSONFault(offset: start, reason: .badUTF8)
    }
    for i in 2..<max(2, count) where !(0x80...0xBF ~= bytes[start + i]) {
      throw JSONFault(offset: start, reason: .badUTF8)
    }
    return start + count
  }
}

extension String {
  /// Creates a string from bytes that are known to be UTF-8.
  public init(validUTF8 bytes: Span<UInt8>) {
    self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
  }
}
