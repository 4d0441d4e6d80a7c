internal import Glibc

/// The canonical path of a journal.
enum CanonicalPath {
  /// Returns the path without symbolic links; if the file is missing, resolves its directory.
  static func resolved(_ path: String) -> String {
    if let found = real(path) { return found }
    let slash = path.lastIndex(of: "/")
    let directory = slash.map { String(path[...$0]) } ?? "."
    let name = slash.map { String(path[path.index(after: $0)...]) } ?? path
    guard let found = real(directory) else { return path }
    return (found == "/" ? "" : found) + "/" + name
  }

  private static func real(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }

  /// Returns the inode number of a file; `nil` if there is none.
  static func inode(_ path: String) -> UInt64? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}

/// The identity, size and modification time of a journal, to detect that it was written.
struct FileStamp: Equatable {
  private let inode: ino_t
  private let size: off_t
  private let seconds: Int
  private let nanoseconds: Int

  /// - Returns: `nil` if the journal has a log or does not exist.
  init?(ofStill path: String) {
    var status = stat()
    guard access(path + "-wal", F_OK) != 0, stat(path, &status) == 0 else { return nil }
    (inode, size) = (status.st_ino, status.st_size)
    (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
  }
}
