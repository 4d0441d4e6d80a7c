internal import Glibc
package import Journal

/// Where a file is to be put whole, a journal or one made of it: never over the journal that it is
/// made of, nor over one that somebody has.
///
/// While this lives nobody else takes the journal that was there.
package final class JournalPlace {
  private let path: String
  private var locks: [JournalLock] = []

  /// The file as it is made, until it is put where it is to be.
  package let partial: String

  /// Where the one is whose place was taken; `nil` when there was none.
  package private(set) var replaced: String?

  /// - Parameter source: The journal that is read meanwhile.
  /// - Throws: ``JournalError`` when the file may not take the place; nothing was changed then.
  package init(at path: String, besides source: String?) throws(JournalError) {
    self.path = path
    partial = path + ".partial"
    var status = stat()
    guard stat(directory, &status) == 0 else {
      throw .unavailable(
        detail:
          "\(path): there is no directory \(directory == "/" ? "/" : String(directory.dropLast()))")
    }
    if let source, Self.isPart(path, of: source) {
      throw .unavailable(detail: "\(path) belongs to the journal that is read, \(source)")
    }
    for name in Set([path, JournalPath.resolved(path)]).sorted() {
      do throws(JournalError) {
        locks.append(try JournalLock(reading: name + ".lock", mayBeWritten: false))
      } catch {
        throw .unavailable(detail: "\(name): \(error)")
      }
    }
  }

  /// Lets go of what was there, for the one who takes it to write it.
  func unlock() { locks = [] }

  /// Whether a path is one of the files of a journal, by whatever name.
  private static func isPart(_ path: String, of journal: String) -> Bool {
    guard let file = identity(path) else { return false }
    return ["", "-wal", "-shm", ".lock"].contains { identity(journal + $0) == file }
  }

  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t
  }

  /// Of what a link leads to, not of the link.
  private static func identity(_ path: String) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, inode: status.st_ino)
  }

  /// Puts the partial file, which the disk has, where it is to be.
  ///
  /// - Parameters:
  ///   - isForced: Whether it may take the place of another, which is kept as `path.old`, with its
  ///     log. There is one of the two at every moment.
  ///   - keepsAll: Whether one that was kept before is kept as well: the next is `path.old.2` then.
  package func put(isForced: Bool, keepsAll: Bool) throws(JournalError) {
    if isForced, access(path, F_OK) == 0 {
      let old = keepsAll ? nameForOld() : path + ".old"
      try keep(as: old)
      replaced = old
      guard rename(partial, path) == 0 else { throw Self.failure(path) }
    } else {
      try keepLog(keepsAll: keepsAll)
      // Unlike rename, this finds out if there is a file meanwhile.
      guard link(partial, path) == 0 else {
        let hint = errno == EEXIST ? "; --force replaces it" : ""
        throw .unavailable(detail: "\(path): \(String(cString: strerror(errno)))\(hint)")
      }
      unlink(partial)
    }
    try Self.synchronize(directory)
  }

  /// The first name that nobody has, or that of an attempt which did not come to its end.
  private func nameForOld() -> String {
    let file = Self.identity(path)
    var (name, number) = (path + ".old", 1)
    while let other = Self.identity(name), other != file {
      number += 1
      name = "\(path).old.\(number)"
    }
    return name
  }

  /// Gives the log of a journal that is missing another name: SQLite would take it for that of the
  /// new one.
  private func keepLog(keepsAll: Bool) throws(JournalError) {
    guard access(path, F_OK) != 0, access(path + "-wal", F_OK) == 0 else { return }
    var (old, number) = (path + ".old-wal", 1)
    while keepsAll, access(old, F_OK) == 0 {
      number += 1
      old = "\(path).old.\(number)-wal"
    }
    guard rename(path + "-wal", old) == 0 else { throw Self.failure(old) }
    unlink(path + "-shm")
    try Self.synchronize(directory)
  }

  /// Gives what is there its second name.
  private func keep(as old: String) throws(JournalError) {
    moveLog()
    for end in ["-wal", "-shm"] { unlink(old + end) }
    try keep("", as: old)
    // What could not be moved from the log: with another file it would be taken for that one's.
    if access(path + "-wal", F_OK) == 0 { try keep("-wal", as: old) }
    try Self.synchronize(directory)
    for end in ["-wal", "-shm"] { unlink(path + end) }
  }

  /// Moves the log of a journal that nobody has into its file; of all else nothing is touched.
  private func moveLog() {
    guard access(path + "-wal", F_OK) == 0, let database = try? Database(path: path, .readWrite),
      (try? database.integer("SELECT count(*) FROM journal")) != nil
    else { return }
    try? database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
  }

  private func keep(_ end: String, as old: String) throws(JournalError) {
    let (file, old) = (path + end, old + end)
    let next = old + ".partial"
    unlink(next)
    guard link(file, next) == 0, rename(next, old) == 0 else { throw Self.failure(old) }
    // Of two names of one file, rename leaves both.
    unlink(next)
  }

  private var directory: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  /// Hands a file, or the names in a directory, to the disk.
  static func synchronize(_ path: String) throws(JournalError) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure(path) }
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }
}
