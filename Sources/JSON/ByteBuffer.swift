/// A growable byte buffer with a single owner.
///
/// Growing doubles the capacity, and the owner can reuse the memory. This is the only type of this
/// module that manages memory by hand: small appends to an array cost three times as much, and the
/// daemon's replies consist of small appends.
@safe
public struct ByteBuffer: ~Copyable {
  @usableFromInline var base: UnsafeMutableRawPointer?

  /// The number of bytes written.
  public private(set) var count = 0

  /// The number of bytes that fit before the buffer grows; 0 means that no memory is allocated.
  public private(set) var capacity = 0

  /// Creates an empty buffer without allocating memory.
  @inlinable
  public init() {
    unsafe base = nil
  }

  deinit {
    unsafe base?.deallocate()
  }

  /// Whether the buffer is empty.
  @inline(__always)
  public var isEmpty: Bool { count == 0 }

  /// The last byte; `nil` if the buffer is empty.
  @inline(__always)
  var last: UInt8? {
    guard count > 0, let base = unsafe base else { return nil }
    return unsafe base.load(fromByteOffset: count &- 1, as: UInt8.self)
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
  @inline(__always)
  public mutating func reserve(_ extra: Int) {
    if count &+ extra > capacity { grow(extra) }
  }

  @inline(never)
  private mutating func grow(_ extra: Int) {
    let newCapacity = Swift.max(64, capacity * 2, count + extra)
    let new = UnsafeMutableRawPointer.allocate(byteCount: newCapacity, alignment: 16)
    if let base = unsafe base {
      unsafe new.copyMemory(from: base, byteCount: count)
      unsafe base.deallocate()
    }
    unsafe base = new
    capacity = newCapacity
  }

  /// Removes all bytes.
  ///
  /// - Parameter capacity: The most bytes of memory to keep; a larger allocation is freed.
  public mutating func removeAll(keepingCapacity capacity: Int = .max) {
    count = 0
    guard self.capacity > capacity else { return }
    unsafe base?.deallocate()
    unsafe base = nil
    self.capacity = 0
  }

  /// Removes the first `n` bytes and moves the rest to the front.
  public mutating func removeFirst(_ n: Int) {
    precondition(0 <= n && n <= count, "more is dropped than is there")
    guard n > 0, let base = unsafe base else { return }
    count -= n
    unsafe base.copyMemory(from: base + n, byteCount: count)
  }

  /// Removes all bytes after the first `count`.
  public mutating func truncate(to count: Int) {
    precondition(0 <= count && count <= self.count, "truncating forwards")
    self.count = count
  }

  // MARK: Appending

  /// Appends one byte.
  @inline(__always)
  public mutating func append(_ byte: UInt8) {
    reserve(1)
    unsafe base.unsafelyUnwrapped.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
    count &+= 1
  }

  /// Appends bytes.
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
  @inline(__always)
  public mutating func append(_ text: StaticString) {
    unsafe append(
      UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Appends the UTF-8 of a string, without quoting.
  @inline(__always)
  public mutating func append(_ text: String) {
    append(text.utf8.span)
  }

  /// Appends the bytes of a memory region.
  @inline(__always)
  private mutating func append(_ source: UnsafeRawBufferPointer) {
    guard let start = source.baseAddress else { return }
    let size = source.count
    reserve(size)
    unsafe (base.unsafelyUnwrapped + count).copyMemory(from: start, byteCount: size)
    count &+= size
  }

  /// Appends an integer in decimal.
  public mutating func append(integer: some BinaryInteger) {
    append(magnitude: UInt64(integer.magnitude), isNegative: integer < 0)
  }

  private mutating func append(magnitude: UInt64, isNegative: Bool) {
    reserve(20)
    if isNegative { append(UInt8(ascii: "-")) }
    var digits = 1
    var rest = magnitude
    while rest >= 10 {
      digits &+= 1
      rest /= 10
    }
    var at = count &+ digits
    rest = magnitude
    repeat {
      let (quotient, remainder) = rest.quotientAndRemainder(dividingBy: 10)
      at &-= 1
      unsafe base.unsafelyUnwrapped.storeBytes(
        of: UInt8(truncatingIfNeeded: remainder) &+ 0x30, toByteOffset: at, as: UInt8.self)
      rest = quotient
    } while rest != 0
    count &+= digits
  }

  /// Appends a Unicode scalar as UTF-8.
  ///
  /// Traps if the value is not a scalar.
  mutating func append(scalar value: UInt32) {
    guard let scalar = Unicode.Scalar(value) else { preconditionFailure("no scalar: \(value)") }
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { append(byte) }
  }
}
