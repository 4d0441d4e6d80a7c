import CSupport  // defines `timespec` in some builds, depending on which module is loaded first
import Glibc

/// A file of which each saved version is shown.
final class FollowedFile {
  /// A saved version.
  enum Change {
    case text(String)
    /// It cannot be read.
    case fault(String)
  }

  /// The time between two looks at the file, in milliseconds.
  private static let milliseconds: CInt = 200

  private let path: String
  private var seen: [Int]

  init(_ path: String) {
    self.path = path
    seen = Self.version(of: path)
  }

  /// The version that was saved since the last look; `nil` for none.
  var change: Change? {
    let version = Self.version(of: path)
    // An editor may remove the file before it writes the new one.
    guard version != seen, !version.isEmpty else { return nil }
    seen = version
    do {
      return .text(try bindctl.text(of: path))
    } catch {
      return .fault("\(error)")
    }
  }

  /// Returns what tells two versions of a file apart; empty if it does not exist.
  private static func version(of path: String) -> [Int] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [] }
    return [
      Int(status.st_ino), Int(status.st_size), status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
    ]
  }

  /// Returns the time to wait for input, so that a followed file is looked at often enough.
  static func pollTime(_ time: CInt, _ file: FollowedFile?) -> CInt {
    guard file != nil else { return time }
    return time < 0 ? milliseconds : min(time, milliseconds)
  }

  /// Returns the name of the view in a file: that of the file without its directory and ending.
  static func viewName(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return name.hasSuffix(".view") && name != ".view" ? String(name.dropLast(5)) : name
  }
}
