internal import Glibc
internal import Journal
internal import Model

/// The write-ahead log beside a journal, read without SQLite.
///
/// Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
struct JournalLog {
  let path: String

  init(of journal: String) {
    path = journal + "-wal"
  }

  /// The size of the log in bytes; 0 if there is none.
  var size: Int { Self.size(of: path) }

  /// Returns the size of a file in bytes; 0 if there is none.
  static func size(of path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  /// Returns the first bytes of the newest committed copy of page 1; `nil` if the log has none.
  func firstPage(_ count: Int) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { _ = close(file) }
    func bytes(at offset: Int, _ count: Int) -> [UInt8]? {
      var bytes = [UInt8](repeating: 0, count: count)
      return pread(file, &bytes, count, off_t(offset)) == count ? bytes : nil
    }
    func integer(_ bytes: [UInt8], _ offset: Int) -> Int {
      bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
    }
    guard let head = bytes(at: 0, 32), [0x377F_0682, 0x377F_0683].contains(integer(head, 0)) else {
      return nil
    }
    let pageSize = integer(head, 8)
    guard 512...65_536 ~= pageSize else { return nil }
    var (offset, newest): (Int, Int?) = (32, nil)
    var waiting: Int?
    while let frame = bytes(at: offset, 24), frame[8..<16] == head[16..<24] {
      if integer(frame, 0) == 1 { waiting = offset + 24 }
      // Only the last frame of a commit has a database size.
      if integer(frame, 4) > 0 { newest = waiting ?? newest }
      offset += 24 + pageSize
    }
    return newest.flatMap { bytes(at: $0, count) }
  }

  /// Copies the log and the tail of a journal to files that nobody overwrites.
  ///
  /// - Returns: The paths of the copies; `nil` if there is nothing to copy.
  static func keep(of journal: String) throws(JournalError) -> String? {
    var copies: [String] = []
    for end in ["-wal"] + TailFile.ends {
      do throws(JournalError) {
        if let copy = try JournalLog(at: journal + end).keep() { copies.append(copy) }
      } catch {
        // The next start tries again and needs the room.
        for copy in copies { unlink(copy) }
        throw error
      }
    }
    return copies.isEmpty ? nil : copies.joined(separator: ", ")
  }

  private init(at path: String) { self.path = path }

  /// Copies the file.
  ///
  /// - Returns: The path of the copy; `nil` if there is nothing to copy.
  private func keep() throws(JournalError) -> String? {
    guard size > 0 else { return nil }
    var (copy, number) = (path + ".lost", 1)
    while access(copy, F_OK) == 0 {
      number += 1
      copy = "\(path).lost.\(number)"
    }
    let source = open(path, O_RDONLY | O_CLOEXEC)
    guard source >= 0 else { throw failure(path, errno) }
    defer { _ = close(source) }
    let target = open(copy, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw failure(copy, errno) }
    defer { _ = close(target) }
    do throws(JournalError) {
      try copyAll(of: source, to: target, at: copy)
    } catch {
      // The next start tries again and needs the room.
      unlink(copy)
      throw error
    }
    return copy
  }

  /// Flushes the log to the disk; does nothing if there is none.
  func synchronize() throws(JournalError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      if errno == ENOENT { return }
      throw failure(path, errno)
    }
    defer { _ = close(file) }
    guard fdatasync(file) == 0 else { throw failure(path, errno) }
  }

  /// Copies the rest of an open file to another one, and flushes that to the disk.
  private func copyAll(
    of source: CInt, to target: CInt, at copy: String
  ) throws(JournalError) {
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(source, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path, errno) }
      guard count > 0 else { break }
      var rest = chunk[..<count]
      while !rest.isEmpty {
        // A full disk takes a part first.
        let written = rest.withUnsafeBytes { write(target, $0.baseAddress, $0.count) }
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw failure(copy, written == 0 ? ENOSPC : errno) }
        rest = rest.dropFirst(written)
      }
    }
    guard fsync(target) == 0 else { throw failure(copy, errno) }
  }

  private func failure(_ path: String, _ code: CInt) -> JournalError {
    code == ENOSPC || code == EDQUOT
      ? .readOnly(reason: code == ENOSPC ? "ENOSPC" : "EDQUOT", outcome: .none)
      : .unavailable(detail: "\(path): \(String(cString: strerror(code)))")
  }
}
