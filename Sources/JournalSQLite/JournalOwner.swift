internal import Facts
internal import Glibc
internal import Journal

/// The process that holds a journal, and the owner of its files.
package enum JournalOwner {
  /// Returns the process that holds a journal; `nil` if there is none or it is unknown.
  package static func process(of path: String) -> Int32? {
    do throws(JournalError) {
      _ = try JournalLock(reading: JournalPath.resolved(path) + ".lock", mayBeWritten: false)
      return nil
    } catch {
      guard case .locked(let owner) = error else { return nil }
      let words = owner.split(separator: " ")
      return words.first == "pid" ? words.dropFirst().first.flatMap { Int32($0) } : nil
    }
  }

  /// Gives a new journal the owner and mode of the file that it replaces.
  ///
  /// If there is no such file, the owner of the directory gets it, and nobody else may read it. The
  /// lock file gets the same owner. Otherwise a daemon that runs as another user could not open the
  /// journal.
  ///
  /// - Throws: ``JournalError/unavailable(detail:)`` when this user may not change the owner.
  static func give(
    _ file: String, lock: String, inPlaceOf path: String
  ) throws(JournalError) {
    var status = stat()
    // The owner must always be able to read and write.
    var mode: mode_t = 0o600
    if stat(path, &status) == 0 {
      mode |= status.st_mode & 0o777
    } else {
      let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      guard stat(directory, &status) == 0 else { throw failure(directory) }
    }
    for name in [file, lock] where access(name, F_OK) == 0 {
      guard chown(name, status.st_uid, status.st_gid) != 0 else { continue }
      // A wrong group alone is no failure, because the owner can open the file.
      guard status.st_uid != geteuid() else { continue }
      throw .unavailable(
        detail: "\(path) must belong to \(user(status.st_uid)): do this as root or as that user")
    }
    guard chmod(file, mode) == 0 else { throw failure(file) }
  }

  private static func user(_ uid: uid_t) -> String {
    getpwuid(uid).map { String(cString: $0.pointee.pw_name) } ?? "the user \(uid)"
  }

  private static func failure(_ path: String) -> JournalError {
    .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
  }
}
