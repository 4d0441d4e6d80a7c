internal import Glibc

/// A temporary directory for one test; it is removed with the object.
///
/// It is in `$TMPDIR` or `/tmp`. Its path is short, because a socket path is limited to 107 bytes.
package final class TemporaryDirectory {
  package let path: String

  package init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/binderd-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno, parent: parent) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    Files.remove(path)
  }

  /// The directory could not be created.
  package struct Failure: Error {
    package let code: CInt
    package let parent: String
  }
}
