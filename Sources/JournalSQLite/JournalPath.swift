internal import Glibc

/// The canonical path of a journal.
enum JournalPath {
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
