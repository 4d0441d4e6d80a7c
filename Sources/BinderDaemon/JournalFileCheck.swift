import EventLoop
import Glibc
import Journal
import Model

/// The file of a journal, before it is opened.
struct JournalFileCheck {
  let path: String

  /// Checks that the path is a regular file or missing.
  ///
  /// - Throws: ``JournalError`` for other kinds of files; opening a FIFO would wait for a writer.
  func checkKind() throws(JournalError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    throw .unavailable(detail: "\(path) is not a regular file")
  }

  /// Creates the directory of the file and its parents, for this user only.
  func makeDirectory() throws(JournalError) {
    do throws(SystemError) {
      try BinderDaemon.makeDirectory(of: path)
    } catch {
      throw .unavailable(detail: "\(error)")
    }
  }

  /// Checks that other users cannot remove or replace the file.
  ///
  /// - Parameter program: The program that the journal belongs to, whose socket unit is named.
  /// - Throws: ``JournalError`` if they can.
  func checkDirectory(for program: Program) throws(JournalError) {
    // The target of a symbolic link is the file that is written.
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
      if let fault {
        let unit =
          fault.path == "/var/lib/\(program.directory)"
          ? "; or type: systemctl start \(program.name).socket" : ""
        throw .unavailable(detail: "\(fault)" + unit)
      }
    }
  }
}
