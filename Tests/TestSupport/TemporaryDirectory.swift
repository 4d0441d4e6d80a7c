internal import Glibc

/// A directory of its own for one test, removed with all that is in it.
///
/// It is in `$TMPDIR`, or `/tmp`; short, because the path of a socket has 107 bytes at most.
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

  /// No directory can be made.
  package struct Failure: Error {
    package let code: CInt
    package let parent: String
  }
}
