internal import Journal

/// The head of a block of the tail, as it is in the file; the rows of one commit follow it.
///
/// README.md beside this file describes it. All numbers are little-endian.
struct TailBlock {
  private var magic = Self.magic.littleEndian

  /// The CRC-32C of the rest of the head.
  private var headChecksum: UInt32 = 0
  private var storedSalt: UInt64
  private var storedFirst: UInt64
  private var storedFlushed: UInt64
  private var storedByteCount: UInt32
  private var storedCount: UInt32
  private var storedChecksum: UInt32
  private var unused: UInt32 = 0

  static let headSize = 48

  /// Blocks begin at multiples of this number of bytes.
  static let alignment = 8

  /// "BDT1".
  private static let magic: UInt32 = 0x3154_4442

  /// The number of the session that wrote it; see ``Schema``.
  var salt: UInt64 { UInt64(littleEndian: storedSalt) }

  /// The position of the first event.
  var first: UInt64 { UInt64(littleEndian: storedFirst) }

  /// The position of the last event.
  var last: UInt64 { first &+ UInt64(count) &- 1 }

  /// The last position that the disk had when the block was written.
  var flushed: UInt64 { UInt64(littleEndian: storedFlushed) }

  /// The size of the rows in bytes.
  var byteCount: Int { Int(UInt32(littleEndian: storedByteCount)) }

  /// The number of events.
  var count: Int { Int(UInt32(littleEndian: storedCount)) }

  /// The size in the file, in bytes.
  var size: Int { Self.size(of: byteCount) }

  /// Returns the size of a block in the file.
  static func size(of byteCount: Int) -> Int {
    (headSize + byteCount + alignment - 1) / alignment * alignment
  }

  /// Creates the head of a block with the rows of some batches.
  init(_ batches: [RecordBatch], salt: UInt64, flushed: UInt64, _ crc: CRC32C) {
    var (bytes, count, checksum) = (0, 0, UInt32(0))
    for batch in batches {
      bytes += batch.byteCount
      count += batch.count
      checksum = crc.checksum(batch.bytes.raw, after: checksum)
    }
    storedSalt = salt.littleEndian
    storedFirst = (batches.first?.first ?? 0).littleEndian
    storedFlushed = flushed.littleEndian
    storedByteCount = UInt32(bytes).littleEndian
    storedCount = UInt32(count).littleEndian
    storedChecksum = checksum.littleEndian
    headChecksum = headChecksum(crc).littleEndian
  }

  /// Returns the offset of the next place that looks like the head of a block.
  static func next(from start: Int, in bytes: UnsafeRawBufferPointer) -> Int? {
    var offset = start
    let end = bytes.count - headSize
    while offset <= end {
      if bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self) == magic.littleEndian {
        return offset
      }
      offset += alignment
    }
    return nil
  }

  /// Reads the head of a whole block with a salt; `nil` if there is none at this place.
  ///
  /// - Parameter offset: A result of ``next(from:in:)``.
  init?(at offset: Int, in bytes: UnsafeRawBufferPointer, salt: UInt64, _ crc: CRC32C) {
    let head = bytes.loadUnaligned(fromByteOffset: offset, as: Self.self)
    guard head.salt == salt,
      UInt32(littleEndian: head.headChecksum) == head.headChecksum(crc),
      head.count > 0, offset + Self.headSize + head.byteCount <= bytes.count,
      crc.checksum(UnsafeRawBufferPointer(rebasing: bytes[head.rows(at: offset)]))
        == UInt32(littleEndian: head.storedChecksum)
    else { return nil }
    self = head
  }

  /// Returns the range of the rows of a block that begins at an offset.
  func rows(at offset: Int) -> Range<Int> {
    offset + Self.headSize..<offset + Self.headSize + byteCount
  }

  private func headChecksum(_ crc: CRC32C) -> UInt32 {
    withUnsafeBytes(of: self) { crc.checksum(UnsafeRawBufferPointer(rebasing: $0[8...])) }
  }
}
