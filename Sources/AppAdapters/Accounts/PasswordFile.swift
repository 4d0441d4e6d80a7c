internal import EventLoop

/// The accounts of this machine in `/etc/passwd`: see passwd(5).
///
/// It does not use getpwnam(3), which can query servers and wait for them.
package struct PasswordFile {
  private let path: String

  package init(path: String = "/etc/passwd") {
    self.path = path
  }

  /// Returns the user id of an account; `nil` if the file does not contain it.
  package func user(named name: String) -> UInt32? {
    for line in SmallFile.text(path).split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, fields[0] == name { return UInt32(fields[2]) }
    }
    return nil
  }
}
