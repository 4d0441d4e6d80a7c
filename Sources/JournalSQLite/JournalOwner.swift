internal import Glibc
internal import Journal

/// Whose the files of a journal are, and which process has it.
package enum JournalOwner {
  /// The process that has a journal; `nil` when none has it, or it does not say which.
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

  /// Gives a new journal to the owner of the file whose place it takes, with that one's mode.
  ///
  /// Where there is none, to the owner of the directory. Its lock file goes with it. A daemon that runs
  /// as another user could not open it else.
  ///
  /// - Throws: ``JournalError/unavailable(detail:)`` when this user may not give it away.
  static func give(
    _ file: String, lock: String, inPlaceOf path: String
  ) throws(JournalError) {
    var status = stat()
    var mode: mode_t
    if stat(path, &status) == 0 {
      mode = status.st_mode & 0o777
    } else {
      let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
      guard stat(directory, &status) == 0 else { throw failure(directory) }
      mode = status.st_mode & 0o666
    }
    // Without more for its own user nobody can work with it.
    mode |= 0o600
    for name in [file, lock] where access(name, F_OK) == 0 {
      guard chown(name, status.st_uid, status.st_gid) != 0 else { continue }
      // The group alone is no reason to fail: the owner can open it.
      guard status.st_uid != geteuid() else { continue }
      throw .unavailable(
        detail: "\(path) is to belong to \(user(status.st_uid)): do this as root, or as that user")
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
