internal import Glibc
internal import Journal

/// Makes records from the bytes of a ``RowBuffer``.
///
/// Columns that repeat from row to row share their strings.
struct RowDecoder {
  private var types = LastStrings()
  private var metas = LastStrings()

  /// Returns the record at an offset, and advances the offset to the next one.
  mutating func record(_ rows: UnsafeRawBufferPointer, at offset: inout Int) -> Record {
    func number() -> UInt64 {
      defer { offset += 8 }
      return UInt64(littleEndian: rows.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    func text() -> UnsafeRawBufferPointer? {
      let count = UInt32(
        littleEndian: rows.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
      offset += 4
      guard count != .max else { return nil }
      defer { offset += Int(count) }
      return UnsafeRawBufferPointer(rebasing: rows[offset..<offset + Int(count)])
    }
    func string(_ bytes: UnsafeRawBufferPointer?) -> String {
      bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
    let (seq, time, version, previous) = (number(), number(), number(), number())
    let stream = string(text())
    let type = types.string(text() ?? UnsafeRawBufferPointer(start: nil, count: 0))
    let data = string(text())
    let command = text().map { string($0) }
    return Record(
      seq: seq, time: Int64(bitPattern: time), version: version, previous: previous,
      stream: stream, type: type, data: data, command: command,
      meta: text().map { metas.string($0) })
  }
}

/// A cache of the previous row's string, for columns with repeated values.
private struct LastStrings {
  private var last = ""

  mutating func string(_ bytes: UnsafeRawBufferPointer) -> String {
    let isSame = last.withUTF8 { last in
      guard last.count == bytes.count else { return false }
      guard let first = last.baseAddress, let other = bytes.baseAddress else { return true }
      return memcmp(first, other, bytes.count) == 0
    }
    if !isSame { last = String(decoding: bytes, as: UTF8.self) }
    return last
  }
}
