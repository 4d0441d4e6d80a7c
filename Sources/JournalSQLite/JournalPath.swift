internal import Glibc

/// One name for a journal, however somebody has come to it.
enum JournalPath {
  /// The path without links; where there is no file yet, that in the directory without links.
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

  /// The number of the file; `nil` when there is none.
  static func inode(_ path: String) -> UInt64? {
    var status = stat()
    return stat(path, &status) == 0 ? UInt64(status.st_ino) : nil
  }
}
