internal import JSON

/// A fixed list of names, found by a hash of their bytes.
///
/// The bytes of all names are in one array, so that a look-up counts no references. For names that
/// clients choose or that change, see `Names`.
package struct NameTable: Sendable {
  private var bytes: [UInt8] = []

  /// The end offset of each name in ``bytes``.
  private var ends: [Int] = []

  /// The index of a name by hash, with open addressing; -1 is free.
  ///
  /// The count is a power of two, and at most half of the slots are in use.
  private var slots: [Int]

  /// - Parameter names: Names of the daemon, without duplicates; the hash is not seeded.
  package init(_ names: some Collection<String>) {
    var count = 2
    while count < names.count * 2 { count *= 2 }
    slots = Array(repeating: -1, count: count)
    for name in names {
      var slot = Self.hash(name.utf8.span) & (count - 1)
      while slots[slot] >= 0 { slot = (slot + 1) & (count - 1) }
      slots[slot] = ends.count
      bytes.append(contentsOf: name.utf8)
      ends.append(bytes.count)
    }
  }

  /// Returns the index of a name; `nil` if it is not in the list.
  package func find(_ name: Span<UInt8>) -> Int? {
    let slots = slots.span
    let mask = slots.count &- 1
    var slot = Self.hash(name) & mask
    while true {
      let index = unsafe slots[unchecked: slot]
      if index < 0 { return nil }
      if isName(name, at: index) { return index }
      slot = (slot &+ 1) & mask
    }
  }

  @inline(__always)
  private func isName(_ name: Span<UInt8>, at index: Int) -> Bool {
    let ends = ends.span
    let start = index > 0 ? unsafe ends[unchecked: index &- 1] : 0
    let end = unsafe ends[unchecked: index]
    guard end &- start == name.count else { return false }
    return bytes.span.extracting(start..<end).hasSameBytes(as: name)
  }

  @inline(__always)
  private static func hash(_ name: Span<UInt8>) -> Int {
    let bytes = unsafe name.bytes
    let count = bytes.byteCount
    var (first, last): (UInt64, UInt64) = (0, 0)
    // The two words may overlap.
    if count >= 8 {
      unsafe first = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: UInt64.self)
      unsafe last =
        bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 8, as: UInt64.self)
    } else if count >= 4 {
      unsafe first = UInt64(
        bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: 0, as: UInt32.self))
      unsafe last = UInt64(
        bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: count &- 4, as: UInt32.self))
    } else if count > 0 {
      unsafe first = UInt64(name[unchecked: 0]) &<< 8 | UInt64(name[unchecked: count &>> 1])
      unsafe last = UInt64(name[unchecked: count &- 1])
    }
    let word = (first ^ UInt64(truncatingIfNeeded: count)) &* 0x9E37_79B9_7F4A_7C15 ^ last
    return Int(truncatingIfNeeded: (word &* 0xFF51_AFD7_ED55_8CCD) &>> 40)
  }
}
