internal import Glibc
internal import Journal
package import Model

/// The destination of a new file: a journal, or a file made from one.
///
/// It never replaces the journal that is read, or one that a process has open. While this object
/// lives, no other process can lock the journal at the destination for writing.
package final class JournalDestination {
  private let path: String
  private var locks: [JournalLock] = []

  /// The path of the file until it is complete.
  package let partial: String

  /// The path of the file that was replaced; `nil` if there was none.
  package private(set) var replaced: String?

  /// - Parameter source: The journal that is read meanwhile.
  /// - Throws: ``JournalError`` when the destination may not be replaced; nothing was changed then.
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
      throw .unavailable(detail: "\(path) is part of the source journal, \(source)")
    }
    for name in Set([path, CanonicalPath.resolved(path)]).sorted() {
      do throws(JournalError) {
        locks.append(try JournalLock(reading: name + ".lock", mayBeWritten: false))
      } catch {
        throw .unavailable(detail: "\(name): \(error)")
      }
    }
  }

  /// Releases the locks, so that the caller can lock the destination for writing.
  func unlock() { locks = [] }

  /// Returns whether a path is one of the files of a journal, under any name.
  private static func isPart(_ path: String, of journal: String) -> Bool {
    guard let file = identity(path) else { return false }
    return (["", "-wal", "-shm", ".lock"] + TailFile.ends).contains {
      identity(journal + $0) == file
    }
  }

  private struct Identity: Equatable {
    let device: dev_t
    let inode: ino_t
  }

  /// Returns the identity of a file, following symbolic links.
  private static func identity(_ path: String) -> Identity? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    return Identity(device: status.st_dev, inode: status.st_ino)
  }

  /// Moves the partial file, which is already on the disk, into place.
  ///
  /// - Parameters:
  ///   - isForced: Whether an existing file may be replaced. It is kept as `path.old`, with its
  ///     log. One of the two exists at every moment.
  ///   - keepsAll: Whether an older `path.old` is kept too; the next name is then `path.old.2`.
  package func put(isForced: Bool, keepsAll: Bool) throws(JournalError) {
    if isForced, access(path, F_OK) == 0 {
      let old = keepsAll ? nameForOld() : path + ".old"
      try keep(as: old)
      replaced = old
      guard rename(partial, path) == 0 else { throw Self.failure(path) }
    } else {
      try keepLog(keepsAll: keepsAll)
      // Unlike `rename`, `link` fails if the file exists meanwhile.
      guard link(partial, path) == 0 else {
        let hint = errno == EEXIST ? "; --force replaces it" : ""
        throw .unavailable(detail: "\(path): \(String(cString: strerror(errno)))\(hint)")
      }
      unlink(partial)
    }
    try Self.synchronize(directory)
  }

  /// Returns the first free name, or the name that an interrupted attempt has used.
  private func nameForOld() -> String {
    let file = Self.identity(path)
    var (name, number) = (path + ".old", 1)
    while let other = Self.identity(name), other != file {
      number += 1
      name = "\(path).old.\(number)"
    }
    return name
  }

  /// Renames the log of a missing journal, because SQLite would apply it to the new one.
  private func keepLog(keepsAll: Bool) throws(JournalError) {
    let ends = (["-wal"] + TailFile.ends).filter { access(path + $0, F_OK) == 0 }
    guard access(path, F_OK) != 0, !ends.isEmpty else { return }
    var (old, number) = (path + ".old", 1)
    while keepsAll, ends.contains(where: { access(old + $0, F_OK) == 0 }) {
      number += 1
      old = "\(path).old.\(number)"
    }
    for end in ends where rename(path + end, old + end) != 0 { throw Self.failure(old + end) }
    unlink(path + "-shm")
    try Self.synchronize(directory)
  }

  /// Gives the existing file its second name.
  private func keep(as old: String) throws(JournalError) {
    moveLog()
    for end in ["-wal", "-shm"] + TailFile.ends { unlink(old + end) }
    try keep("", as: old)
    // Keep the parts of the log and the tail that could not be moved. Beside another file the log
    // would be misread.
    for end in ["-wal"] + TailFile.ends where access(path + end, F_OK) == 0 {
      try keep(end, as: old)
    }
    try Self.synchronize(directory)
    for end in ["-wal", "-shm"] + TailFile.ends { unlink(path + end) }
  }

  /// Moves the log and the tail of an unused journal into its file; does nothing to other files.
  ///
  /// Beside an empty file SQLite would remove the log. The files of the tail stay, because they may
  /// have damaged blocks.
  private func moveLog() {
    guard (["-wal"] + TailFile.ends).contains(where: { access(path + $0, F_OK) == 0 }),
      JournalLog.size(of: path) > 0, let database = try? Database(path: path, .readWrite),
      (try? database.integer("SELECT count(*) FROM journal")) != nil
    else { return }
    do throws(SQLiteError) {
      let rest = try TailOnDisk(of: path, isComplete: false).rest(besides: database)
      // A damaged tail stays as it is.
      guard rest.damage == nil else { return }
      try database.execute("BEGIN IMMEDIATE")
      let events = try EventTable(database)
      for batch in rest.batches { try events.write(batch) }
      try database.execute("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)")
    } catch {
      // The log and the tail are kept beside the file.
    }
  }

  private func keep(_ end: String, as old: String) throws(JournalError) {
    let (file, old) = (path + end, old + end)
    let next = old + ".partial"
    unlink(next)
    guard link(file, next) == 0, rename(next, old) == 0 else { throw Self.failure(old) }
    // If both names link to one file, `rename` does nothing.
    unlink(next)
  }

  private var directory: String { path.lastIndex(of: "/").map { String(path[...$0]) } ?? "." }

  /// Flushes a file, or the entries of a directory, to the disk.
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
