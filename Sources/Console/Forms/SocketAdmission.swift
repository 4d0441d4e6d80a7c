package import Glibc

/// The check whether a user may connect to a socket, by the modes of the file and of its directories.
package struct SocketAdmission {
  /// The first file on the way to the socket that keeps the user out.
  package struct Obstacle: Equatable, Sendable {
    package let path: String
    package let owner: UInt32
    package let group: UInt32
    package let mode: mode_t

    /// Whether a new member of the group would get through.
    ///
    /// Nobody should become a member of the group of root.
    package let admitsGroup: Bool
  }

  /// Returns the obstacle for a user; `nil` if there is none, or it cannot be seen.
  package static func obstacle(
    to path: String, user: UInt32, groups: [UInt32]
  ) -> Obstacle? {
    guard user != 0, path.hasPrefix("/") else { return nil }
    let ends = path.indices.filter { $0 > path.startIndex && path[$0] == "/" } + [path.endIndex]
    for end in ends {
      let place = String(path[..<end])
      var status = stat()
      guard stat(place, &status) == 0 else { return nil }
      // Connecting writes to the socket; a directory is passed through.
      let bit: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o1 : 0o2
      let shift: mode_t =
        status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
      guard status.st_mode & (bit << shift) == 0 else { continue }
      return Obstacle(
        path: place, owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777,
        admitsGroup: shift == 0 && status.st_gid != 0 && status.st_mode & (bit << 3) != 0)
    }
    return nil
  }
}

extension SocketAdmission.Obstacle {
  /// The file with its owner and mode, for a message.
  package var text: String {
    "\(path) belongs to user \(Self.name(ofUser: owner)) and group \(groupName), mode 0"
      + String(mode, radix: 8)
  }

  /// The name of the group, or its number.
  package var groupName: String {
    getgrgid(group).map { String(cString: $0.pointee.gr_name) } ?? "\(group)"
  }

  /// The name of the owner, or its number.
  package var ownerName: String { Self.name(ofUser: owner) }

  /// Returns the command that makes a user a member of the group; `nil` if that does not help.
  package func command(for user: String) -> String? {
    admitsGroup ? "sudo usermod --append --groups \(groupName) \(user)" : nil
  }

  /// Returns the name of a user, or the number.
  package static func name(ofUser user: UInt32) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
  }
}
