package import Glibc

/// The check whether a user may connect to a socket, by the modes of the file and of its directories.
package struct SocketAdmission {
  /// The first file on the way to the socket that keeps the user out.
  package struct Obstacle: Equatable, Sendable {
    package let path: String
    package let owner: UInt32
    package let group: UInt32
    package let mode: mode_t
    package let isDirectory: Bool

    /// Whether a new member of the group would get through.
    ///
    /// Nobody should become a member of the group of root.
    package let admitsGroup: Bool
  }

  /// Returns the obstacle for a user; `nil` if there is none, or it cannot be seen.
  ///
  /// A relative path begins at the working directory of this process.
  package static func obstacle(
    to path: String, user: UInt32, groups: [UInt32]
  ) -> Obstacle? {
    guard user != 0, let path = absolute(path) else { return nil }
    let ends = path.indices.filter { $0 > path.startIndex && path[$0] == "/" } + [path.endIndex]
    for end in ends {
      let place = String(path[..<end])
      var status = stat()
      guard stat(place, &status) == 0 else { return nil }
      // Connecting writes to the socket; a directory is passed through.
      let isDirectory = status.st_mode & S_IFMT == S_IFDIR
      let bit: mode_t = isDirectory ? 0o1 : 0o2
      let shift: mode_t =
        status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
      guard status.st_mode & (bit << shift) == 0 else { continue }
      return Obstacle(
        path: place, owner: status.st_uid, group: status.st_gid, mode: status.st_mode & 0o7777,
        isDirectory: isDirectory,
        admitsGroup: shift == 0 && status.st_gid != 0 && status.st_mode & (bit << 3) != 0)
    }
    return nil
  }
}

extension SocketAdmission {
  private static func absolute(_ path: String) -> String? {
    guard !path.hasPrefix("/") else { return path }
    guard !path.isEmpty, let directory = getcwd(nil, 0) else { return nil }
    defer { free(directory) }
    return String(cString: directory) + "/" + path
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

  /// Returns what a user may not open, and what helps.
  ///
  /// - Parameter socket: The path of the socket, as it was given.
  package func denial(of user: UInt32, to socket: String) -> String {
    let name = Self.name(ofUser: user)
    let start = "\(name) may not open \(socket)"
    if let command = command(for: name) { return start + Self.commandSeparator + command }
    let step =
      isDirectory
      ? "let others pass \(path) (chmod o+x), or move the socket"
      : "set \"socket_mode\": \"0666\" in binder.conf and restart the daemon, or SocketMode=0666 in the"
        + " socket unit"
    return "\(start): \(text)\(Self.stepSeparator)\(step)"
  }

  /// The texts between a denial and what helps: a command, or a step in words.
  package static let (commandSeparator, stepSeparator) = ("; type: ", "; to admit the user, ")

  /// Returns the name of a user, or the number.
  package static func name(ofUser user: UInt32) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
  }
}
