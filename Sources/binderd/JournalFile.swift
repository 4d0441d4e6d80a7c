import EventLoop
import Glibc
import Journal

/// The file that a journal is kept in, as it is before it is opened.
struct JournalFile {
  let path: String

  /// - Throws: ``JournalError`` when something else than a file is there; to open a FIFO would wait for
  ///   whoever writes into it.
  func checkKind() throws(JournalError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw .unavailable(detail: "\(path) is not a regular file")
  }

  /// - Throws: ``JournalError`` when other users can take the file away or put another in its place.
  func checkDirectory() throws(JournalError) {
    // What a link leads to is what is written.
    var places = [path]
    if let target = realpath(path, nil) {
      places.append(String(cString: target))
      free(target)
    }
    for place in places {
      let fault: UnsafeDirectory?
      do throws(SystemError) {
        fault = try UnsafeDirectory(of: place)
      } catch {
        throw .unavailable(detail: "\(error)")
      }
      if let fault { throw .unavailable(detail: "\(fault)") }
    }
  }
}
