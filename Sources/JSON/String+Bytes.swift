extension String {
  /// Returns whether two strings have the same UTF-8 bytes.
  ///
  /// `==` also accepts canonically equivalent strings, and comparing two UTF-8 views costs a
  /// nanosecond per byte.
  @inlinable
  public func hasSameBytes(as other: String) -> Bool {
    let (own, others) = (utf8.span, other.utf8.span)
    guard own.count == others.count else { return false }
    let (a, b) = unsafe (own.bytes, others.bytes)
    // Equal strings often share storage.
    let isSame = unsafe a.withUnsafeBytes { a in
      unsafe b.withUnsafeBytes { b in unsafe a.baseAddress == b.baseAddress }
    }
    if isSame { return true }
    var i = 0
    while i &+ 8 <= a.byteCount {
      let x = unsafe a.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      let y = unsafe b.unsafeLoadUnaligned(fromUncheckedByteOffset: i, as: UInt64.self)
      if x != y { return false }
      i &+= 8
    }
    while i < a.byteCount {
      if own[i] != others[i] { return false }
      i &+= 1
    }
    return true
  }
}
