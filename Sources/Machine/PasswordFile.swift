internal import Glibc

/// The accounts of this machine as `/etc/passwd` lists them: see passwd(5).
///
/// Not getpwnam(3), which may ask servers and wait for them.
package struct PasswordFile {
  private let path: String

  package init(path: String = "/etc/passwd") {
    self.path = path
  }

  /// The user that an account belongs to; `nil` when there is no such account in the file.
  package func user(named name: String) -> UInt32? {
    for line in SmallFile.text(path).split(separator: "\n") {
      let fields = line.split(separator: ":", omittingEmptySubsequences: false)
      if fields.count > 2, fields[0] == name { return UInt32(fields[2]) }
    }
    return nil
  }
}
