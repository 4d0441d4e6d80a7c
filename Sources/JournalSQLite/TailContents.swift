internal import Glibc
internal import Journal
internal import Model

/// The bytes of the files of a tail, as they were at one moment.
struct TailContents {
  private var files: [[UInt8]] = []

  /// Reads the files of a journal; a missing one is empty.
  init(of journal: String) throws(JournalError) {
    for end in TailFile.ends { files.append(try Self.bytes(of: journal + end)) }
  }

  private static func bytes(of path: String) throws(JournalError) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return [] }
      throw failure(path)
    }
    defer { _ = close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure(path) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var count = 0
    while count < bytes.count {
      let size = bytes.count
      let read = bytes.withUnsafeMutableBytes {
        pread(file, $0.baseAddress.map { $0 + count }, size - count, off_t(count))
      }
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw failure(path) }
      if read == 0 { break }
      count += read
    }
    bytes.removeLast(bytes.count - count)
    return bytes
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }

  /// The events that the database does not have.
  struct Rest {
    /// The events in order; a position may be missing only at ``damage``.
    var batches: [RecordBatch] = []

    /// The first position that is missing although the disk had it; `nil` if there is none.
    ///
    /// Without damage, the events end where the first block is torn.
    var damage: UInt64?

    /// The position of the last event, also after the damage; 0 if there is none.
    var last: UInt64 { batches.last?.last ?? 0 }

    /// The time of the last event.
    var time: Int64? { batches.last.map { $0[$0.count - 1].time } }
  }

  /// Returns the events after a position.
  ///
  /// - Parameters:
  ///   - last: The last position in the database.
  ///   - salt: The salt of the blocks that belong to the database.
  ///   - isComplete: Whether all writes have reached the file, in order: the machine has not
  ///     restarted since. Otherwise only those that were flushed certainly have.
  func rest(after last: UInt64, salt: UInt64, isComplete: Bool) -> Rest {
    var found: [(head: TailBlock, file: Int, offset: Int)] = []
    let crc = CRC32C()
    for (number, file) in files.enumerated() {
      file.withUnsafeBytes { bytes in
        var offset = 0
        while let next = TailBlock.next(from: offset, in: bytes) {
          if let head = TailBlock(at: next, in: bytes, salt: salt, crc) {
            found.append((head, number, next))
            offset = next + head.size
          } else {
            offset = next + TailBlock.alignment
          }
        }
      }
    }
    found.sort { $0.head.first < $1.head.first }
    let certain =
      found.reduce(last) { max($0, isComplete ? $1.head.last : $1.head.flushed) }
    var rest = Rest()
    var end = last
    for (head, file, offset) in found where head.last > end {
      if head.first > end + 1 {
        // A block is missing. If it was never on the disk, it was the last one.
        guard end < certain else { break }
        rest.damage = rest.damage ?? end + 1
      }
      let bytes = files[file]
      guard
        let batch = RecordBatch(
          rows: bytes.span.extracting(head.rows(at: offset)), count: head.count),
        batch.first == head.first,
        batch.last == head.last
      else {
        rest.damage = rest.damage ?? end + 1
        continue
      }
      // A move may have ended within the block.
      rest.batches.append(head.first > end ? batch : batch.rows(after: end))
      end = head.last
    }
    if end < certain { rest.damage = rest.damage ?? end + 1 }
    return rest
  }
}

extension RecordBatch {
  /// Returns the rows after a position.
  fileprivate func rows(after seq: UInt64) -> RecordBatch {
    let rest = RecordBatch()
    for i in 0..<count where self[i].seq > seq { rest.append(self[i]) }
    return rest
  }
}
