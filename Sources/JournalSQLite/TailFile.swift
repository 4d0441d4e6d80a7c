internal import CSQLite
internal import EventLoop
internal import Glibc
internal import Journal

/// One of the two files of a tail: space that is allocated, and written with blocks from its start.
final class TailFile {
  /// The ends of the names of both files.
  static let ends = ["-tail1", "-tail2"]

  let path: String
  let descriptor: CInt

  /// The allocated size in bytes.
  private(set) var capacity: Int

  /// The offset of the next block.
  private(set) var offset = 0

  /// The position of the last event in the file; 0 if it has none.
  private(set) var last: UInt64 = 0

  /// Whether it has blocks that were not flushed to the disk.
  var isDirty = false

  /// The size that a file has at first, and the one to which it grows in normal use.
  static let (firstSize, fullSize) = (64 << 10, 8 << 20)

  /// Opens a file, and creates it if it is missing.
  ///
  /// - Parameters:
  ///   - journal: The database, whose owner and mode a new file gets.
  init(_ end: String, of journal: String) throws(SQLiteError) {
    path = journal + end
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SQLiteError(call: "open", path) }
    var status = stat()
    capacity = fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    if capacity == 0 { Process.writeInPlace(descriptor) }
    // An administrator who opens the journal of a daemon must not lock the daemon out.
    if geteuid() == 0, stat(journal, &status) == 0 {
      _ = fchown(descriptor, status.st_uid, status.st_gid)
      _ = fchmod(descriptor, status.st_mode & 0o777)
    }
  }

  deinit {
    _ = close(descriptor)
  }

  /// Returns the change of the size that makes room for a block of some size at the beginning.
  ///
  /// The file grows in steps up to ``fullSize``, if the disk has room.
  func growth(for size: Int) -> Growth {
    let needed = max(Self.firstSize, (size + 4095) / 4096 * 4096)
    return Growth(
      path: path, descriptor: descriptor, capacity: capacity, needed: needed,
      wanted: max(needed, min(Self.fullSize, capacity * 4)))
  }

  /// Begins the file again, with a size that it has now.
  func begin(capacity: Int) {
    isDirty = isDirty || capacity > self.capacity
    (self.capacity, offset, last) = (capacity, 0, 0)
  }

  /// A change of the size of a file, which may take long.
  struct Growth: Sendable {
    let path: String
    let descriptor: CInt

    /// The present size, the least one, and the one to have if the disk has room, in bytes.
    let capacity, needed, wanted: Int

    /// Changes the size, and returns it.
    ///
    /// The file is filled with zeros, so that a flush of a block writes nothing else.
    func perform() throws(SQLiteError) -> Int {
      if capacity > TailFile.fullSize, needed <= TailFile.fullSize,
        ftruncate(descriptor, off_t(wanted)) == 0
      {
        return wanted
      }
      guard capacity < wanted else { return capacity }
      do throws(SQLiteError) {
        try grow(to: wanted)
        return wanted
      } catch {
        guard error.isNoSpace else { throw error }
        guard capacity < needed else { return capacity }
        try grow(to: needed)
        return needed
      }
    }

    private func grow(to size: Int) throws(SQLiteError) {
      let code = posix_fallocate(descriptor, off_t(capacity), off_t(size - capacity))
      guard code == 0 else {
        // A file system may have allocated a part.
        _ = ftruncate(descriptor, off_t(capacity))
        throw SQLiteError(call: "fallocate", path, code: code)
      }
      let zeros = [UInt8](repeating: 0, count: min(size - capacity, 1 << 20))
      var place = capacity
      while place < size {
        let count = pwrite(descriptor, zeros, min(zeros.count, size - place), off_t(place))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else {
          let error = SQLiteError(call: "write", path, code: count == 0 ? ENOSPC : errno)
          _ = ftruncate(descriptor, off_t(capacity))
          throw error
        }
        place += count
      }
    }
  }

  /// Returns whether a block fits in the rest of the file.
  func hasRoom(for size: Int) -> Bool { size <= capacity - offset }

  /// Writes a block: all of it, or nothing that is a block.
  func write(_ head: TailBlock, _ batches: [RecordBatch]) throws(SQLiteError) {
    let size = head.size
    let padding: UInt64 = 0
    let code = withUnsafeBytes(of: head) { head in
      withUnsafeBytes(of: padding) { padding in
        withUnsafeTemporaryAllocation(of: iovec.self, capacity: batches.count + 2) { parts in
          var count = 0
          func add(_ bytes: UnsafeRawBufferPointer) {
            parts[count] = iovec(
              iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress), iov_len: bytes.count)
            count += 1
          }
          add(head)
          var rest = size - head.count
          for batch in batches {
            add(batch.bytes.raw)
            rest -= batch.byteCount
          }
          if rest > 0 { add(UnsafeRawBufferPointer(rebasing: padding[..<rest])) }
          return write(UnsafeMutableBufferPointer(rebasing: parts[..<count]))
        }
      }
    }
    guard code == 0 else { throw SQLiteError(call: "write", path, code: code) }
    offset += size
    last = head.last
    isDirty = true
  }

  /// Writes all parts at the present offset; returns an `errno`, or 0.
  private func write(_ parts: UnsafeMutableBufferPointer<iovec>) -> CInt {
    var (parts, place) = (parts, off_t(offset))
    while !parts.isEmpty {
      let written = pwritev(
        descriptor, parts.baseAddress, CInt(min(parts.count, Self.maxParts)), place)
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { return written == 0 ? ENOSPC : errno }
      place += off_t(written)
      var left = written
      while let part = parts.first, left >= part.iov_len {
        left -= part.iov_len
        parts = UnsafeMutableBufferPointer(rebasing: parts.dropFirst())
      }
      if left > 0 {
        parts[0].iov_base += left
        parts[0].iov_len -= left
      }
    }
    return 0
  }

  /// The greatest number of parts of one call, `IOV_MAX`.
  private static let maxParts = 1024
}
