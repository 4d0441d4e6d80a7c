internal import Glibc

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
    case .owner(let user): "\(path) belongs to user \(user), who can replace what is in it"
    case .group(let group):
      "\(path) is writable for group \(group); take that away (chmod g-w), or use another directory"
    case .everyone:
      "\(path) is writable for everyone; take that away (chmod o-w), or use another directory"
    }
  }
}
