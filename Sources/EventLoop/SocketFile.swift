internal import CSupport
internal import Glibc
internal import Model

/// The file of a listening socket.
///
/// Removes a stale socket file before binding, and its own file afterwards; never any other file.
final class SocketFile {
  private let path: String
  private var identity: (device: dev_t, inode: ino_t)?

  /// Makes sure that a socket can be bound at a path.
  init(clearing path: String) throws(SocketListener.PathError) {
    self.path = path
    try Self.checkDirectory(of: path)
    guard let status = Self.status(of: path) else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .notASocket(path: path) }
    if let pid = try Self.listener(at: path) { throw .alreadyRunning(path: path, pid: pid) }
    unlink(path)
  }

  /// Remembers the identity of the bound file.
  func recordIdentity() {
    identity = Self.status(of: path).map { ($0.st_dev, $0.st_ino) }
  }

  /// Sets the group of the file.
  func give(to group: UInt32) throws(SystemError) {
    guard lchown(path, uid_t.max, group) == 0 else {
      throw SystemError(code: errno, call: "chown", subject: path)
    }
  }

  /// Removes the file if it is still the one that was bound.
  func remove() {
    guard let identity, let status = Self.status(of: path),
      status.st_dev == identity.device, status.st_ino == identity.inode
    else { return }
    unlink(path)
  }

  private static func status(of path: String) -> stat? {
    var status = stat()
    return lstat(path, &status) == 0 ? status : nil
  }

  /// Returns the process that listens at a path: 0 if it is unknown, `nil` if there is none.
  private static func listener(at path: String) throws(SocketListener.PathError) -> Int32? {
    do throws(SystemError) {
      let probe = try SystemError.check("socket", cposix_unix_socket())
      defer { _ = close(probe) }
      let status = cposix_connect(probe, path)
      switch -status {
      case ECONNREFUSED, ENOENT: return nil
      case EAGAIN: return 0  // a listener with a full backlog
      default:
        try SystemError.check("connect", status, on: path)
        return (try? Peer(of: probe))?.pid ?? 0
      }
    } catch {
      throw .system(error)
    }
  }

  /// Checks the directory: a user who may rename files in it could replace our socket.
  private static func checkDirectory(of path: String) throws(SocketListener.PathError) {
    let fault: UnsafeDirectory?
    do throws(SystemError) {
      fault = try UnsafeDirectory(of: path)
    } catch {
      throw .system(error)
    }
    if let fault { throw .unsafeDirectory(fault) }
  }
}

extension SocketListener.PathError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .alreadyRunning(let path, let pid):
      "a program listens at \(path) already" + (pid > 0 ? ": pid \(pid)" : "")
        + (nameOfProgram(pid).map { " (\($0))" } ?? "")
    case .notASocket(let path): "\(path) is not a socket, and is left as it is"
    case .unsafeDirectory(let directory): "\(directory)"
    case .badDescriptorCount(let text): "LISTEN_FDS is '\(text)', which is no number of descriptors"
    case .notAListener(let descriptor, let reason):
      "descriptor \(descriptor) is not a listening Unix stream socket: \(reason)"
    case .system(let error) where error.code == ENAMETOOLONG:
      "\(error); the path of a socket has at most 107 bytes, and this one has"
        + " \(error.subject.utf8.count)"
    case .system(let error): "\(error)"
    }
  }
}

/// A directory in which other users can replace our files.
package struct UnsafeDirectory: Error, Equatable {
  /// The users who can do so.
  package enum Reason: Equatable {
    case owner(UInt32)
    case group(UInt32)
    case everyone
  }

  package let path: String
  package let reason: Reason

  /// Checks the directory of a file.
  ///
  /// Returns `nil` if only root, this user and its group may change it.
  ///
  /// In a sticky directory users cannot remove the files of others: see unlink(2), `EPERM`.
  ///
  /// - Throws: ``SystemError`` when the directory cannot be examined.
  package init?(of file: String) throws(SystemError) {
    let slash = file.utf8.lastIndex(of: UInt8(ascii: "/"))
    path = slash.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    var status = stat()
    guard stat(path, &status) == 0 else {
      throw SystemError(code: errno, call: "stat", subject: path)
    }
    let isSticky = status.st_mode & S_ISVTX != 0
    let groups: Set = [0, getegid()]
    if status.st_uid != 0, status.st_uid != geteuid() {
      reason = .owner(status.st_uid)
    } else if status.st_mode & S_IWOTH != 0, !isSticky {
      reason = .everyone
    } else if status.st_mode & S_IWGRP != 0, !isSticky, !groups.contains(status.st_gid) {
      reason = .group(status.st_gid)
    } else {
      return nil
    }
  }
}

extension UnsafeDirectory: CustomStringConvertible {
  package var description: String {
    switch reason {
    case .owner(let user):
      "\(path) belongs to user \(Process.name(ofUser: user) ?? "\(user)"), who can replace what is in"
        + " it; run this as that user (sudo -u '\(Process.name(ofUser: user) ?? "#\(user)")'), or use"
        + " another directory"
    case .group(let group):
      "\(path) is writable for group \(group); take that away (chmod g-w), or use another directory"
    case .everyone:
      "\(path) is writable for everyone; take that away (chmod o-w), or use another directory"
    }
  }
}
