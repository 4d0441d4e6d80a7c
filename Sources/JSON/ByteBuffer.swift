/// A growable byte buffer with a single owner.
///
/// Growing doubles the capacity, and the owner can reuse the memory. This is the only type of this
/// module that manages memory by hand: small appends to an array cost three times as much, and the
/// daemon's replies consist of small appends.
@safe
public struct ByteBuffer: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer?

  @usableFromInline var used = 0
  @usableFromInline var room = 0

  /// The number of bytes written.
  @inlinable
  @inline(__always)
  public var count: Int { used }

  /// The number of bytes that fit before the buffer grows; 0 means that no memory is allocated.
  @inlinable
  @inline(__always)
  public var capacity: Int { room }

  /// Creates an empty buffer without allocating memory.
  @inlinable
  public init() {
    unsafe base = nil
  }

  deinit {
    unsafe base?.deallocate()
  }

  /// Whether the buffer is empty.
  @inlinable
  @inline(__always)
  public var isEmpty: Bool { used == 0 }

  /// The last byte; `nil` if the buffer is empty.
  @inlinable
  @inline(__always)
  var last: UInt8? {
    guard used > 0, let base = unsafe base else { return nil }
    return unsafe base.load(fromByteOffset: used &- 1, as: UInt8.self)
  }

  /// The bytes written.
  public var span: Span<UInt8> {
    @_lifetime(borrow self)
    get {
      let bytes = unsafe UnsafeRawBufferPointer(start: base, count: count)
      let span = unsafe bytes.bindMemory(to: UInt8.self).span
      return unsafe _overrideLifetime(span, borrowing: self)
    }
  }

  /// The bytes as a string.
  ///
  /// They must be valid UTF-8.
  public var string: String { String(validUTF8: span) }

  /// A copy of the bytes.
  public var array: [UInt8] {
    unsafe span.withUnsafeBufferPointer { unsafe Array($0) }
  }

  // MARK: Capacity

  /// Reserves room for `extra` more bytes.
  @inlinable
  @inline(__always)
  public mutating func reserve(_ extra: Int) {
    if used &+ extra > room { grow(extra) }
  }

  @usableFromInline
  @inline(never)
  mutating func grow(_ extra: Int) {
    let newCapacity = Swift.max(64, capacity * 2, count + extra)
    let new = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
    if let base = unsafe base {
      unsafe new.copyMemory(from: base, byteCount: count)
      unsafe base.deallocate()
    }
    unsafe base = new
    room = newCapacity
  }

  /// Removes all bytes.
  ///
  /// - Parameter capacity: The most bytes of memory to keep; a larger allocation is freed.
  public mutating func removeAll(keepingCapacity capacity: Int = .max) {
    used = 0
    guard room > capacity else { return }
    unsafe base?.deallocate()
    unsafe base = nil
    room = 0
  }

  /// Removes the first `n` bytes and moves the rest to the front.
  public mutating func removeFirst(_ n: Int) {
    precondition(0 <= n && n <= count, "more is dropped than is there")
    guard n > 0, let base = unsafe base else { return }
    used -= n
    unsafe base.copyMemory(from: base + n, byteCount: count)
  }

  /// Removes all bytes after the first `count`.
  public mutating func truncate(to count: Int) {
    precondition(0 <= count && count <= self.count, "truncating forwards")
    used = count
  }

  // MARK: Appending

  /// Appends one byte.
  @inlinable
  @inline(__always)
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
    used &+= 1
  }

  /// Appends bytes.
  @inlinable
  @inline(__always)
  public mutating func append(_ bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { source in
      unsafe append(UnsafeRawBufferPointer(source))
    }
  }

  /// Appends the bytes of another buffer.
  @inline(__always)
  public mutating func append(_ other: borrowing ByteBuffer) {
    append(other.span)
  }

  /// Appends the UTF-8 of a literal.
  @inlinable
  @inline(__always)
  public mutating func append(_ text: StaticString) {
    unsafe append(
      UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the UTF-8 of a string, without quoting.
  @_disfavoredOverload  // a literal is a static string, which costs less
  @inlinable
  @inline(__always)
  public mutating func append(_ text: String) {
    append(text.utf8.span)
  }

  /// Appends the bytes of a memory region.
  @inlinable
  @inline(__always)
  mutating func append(_ source: UnsafeRawBufferPointer) {
    guard let start = source.baseAddress else { return }
    let size = source.count
    reserve(size)
    unsafe (base.unsafelyUnwrapped + used).copyMemory(from: start, byteCount: size)
    used &+= size
  }

  /// Appends the first bytes of two words in little-endian order.
  ///
  /// - Parameter count: The number of bytes, at most 16.
  @inlinable
  @inline(__always)
  public mutating func append(littleEndian first: UInt64, _ second: UInt64, count: Int) {
    precondition(count <= 16, "two words have 16 bytes")
    reserve(16)
    let end = unsafe base.unsafelyUnwrapped + used
    unsafe end.storeBytes(of: first.littleEndian, as: UInt64.self)
    unsafe end.storeBytes(of: second.littleEndian, toByteOffset: 8, as: UInt64.self)
    used &+= count
  }

  /// Appends an integer in decimal.
  @inlinable
  @inline(__always)
  public mutating func append(integer: some BinaryInteger) {
    append(magnitude: UInt64(integer.magnitude), isNegative: integer < 0)
  }

  @usableFromInline
  mutating func append(magnitude: UInt64, isNegative: Bool) {
    reserve(21)
    if isNegative { append(UInt8(ascii: "-")) }
    guard magnitude >= 100_000_000 else { return append(upToEightDigits: magnitude) }
    var at = used &+ Self.digits(magnitude)
    used = at
    let base = unsafe base.unsafelyUnwrapped
    var rest = magnitude
    while rest >= 100 {
      at &-= 2
      unsafe base.storeBytes(
        of: Self.twoDigits(rest % 100), toByteOffset: at, as: UInt16.self)
      rest /= 100
    }
    if rest >= 10 {
      unsafe base.storeBytes(of: Self.twoDigits(rest), toByteOffset: at &- 2, as: UInt16.self)
    } else {
      unsafe base.storeBytes(
        of: 0x30 | UInt8(truncatingIfNeeded: rest), toByteOffset: at &- 1, as: UInt8.self)
    }
  }

  /// Appends a number of up to eight decimal digits; there must be room for eight.
  ///
  /// All digits are computed at once, in parts of one word: two numbers below 10,000, then four below
  /// 100, then eight below 10. A multiplication and a shift divide all parts of a word.
  @inline(__always)
  private mutating func append(upToEightDigits number: UInt64) {
    let fours = number / 10_000 | (number % 10_000) << 32
    let hundreds = (fours &* 10_486) >> 20 & 0x7F_0000_007F
    let twos = hundreds | (fours &- hundreds &* 100) << 16
    let tens = (twos &* 103) >> 10 & 0x000F_000F_000F_000F
    let digits = tens | (twos &- tens &* 10) << 8
    // The first digit is in the lowest byte. The last one is written even if it is 0.
    let zeros = min(digits.trailingZeroBitCount, 56) & ~7
    let text = (digits | 0x3030_3030_3030_3030) >> UInt64(truncatingIfNeeded: zeros)
    unsafe (base.unsafelyUnwrapped + used).storeBytes(of: text.littleEndian, as: UInt64.self)
    used &+= 8 &- zeros / 8
  }

  /// Returns the number of decimal digits of a number.
  @inline(__always)
  private static func digits(_ number: UInt64) -> Int {
    var (digits, rest) = (1, number)
    while rest >= 10_000 {
      rest /= 10_000
      digits &+= 4
    }
    return digits &+ (rest >= 1000 ? 3 : rest >= 100 ? 2 : rest >= 10 ? 1 : 0)
  }

  /// Appends the two decimal digits of a number below 100.
  @inlinable
  @inline(__always)
  public mutating func append(twoDigits number: Int) {
    reserve(2)
    unsafe base.unsafelyUnwrapped.storeBytes(
      of: Self.twoDigits(UInt64(truncatingIfNeeded: number)), toByteOffset: used, as: UInt16.self)
    used &+= 2
  }

  /// Returns the ASCII digits of a number below 100, the first one in the lower byte of the memory.
  @usableFromInline
  @inline(__always)
  static func twoDigits(_ number: UInt64) -> UInt16 {
    let number = UInt16(truncatingIfNeeded: number)
    let tens = number / 10
    return (0x3030 | tens | (number &- tens &* 10) << 8).littleEndian
  }

  /// Appends a Unicode scalar as UTF-8.
  ///
  /// Traps if the value is not a scalar.
  mutating func append(scalar value: UInt32) {
    guard let scalar = Unicode.Scalar(value) else { preconditionFailure("no scalar: \(value)") }
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
  }
}
