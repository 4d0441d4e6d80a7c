import BinderClient
import Console
import Glibc
import Wire

/// The next step for a user whose client reaches no daemon.
struct SocketAdvice {
  private let attempts: [ClientError.Attempt]

  init(_ attempts: [ClientError.Attempt]) {
    self.attempts = attempts
  }

  /// The longest path of a Unix socket, in bytes.
  static let longestPath = 107

  /// One sentence with the command to type.
  var nextStep: String {
    if let denied = attempts.first(where: \.isDenied) { return admission(denied.place) }
    guard let first = attempts.first else { return "" }
    let path = first.place.path
    guard first.code != ENAMETOOLONG else {
      return "the path of a socket has at most \(Self.longestPath) bytes, and this one has"
        + " \(path.utf8.count); use a shorter one with --socket PATH"
    }
    if let command = startCommand { return "start it with: \(command)" }
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
      return "this file is no socket; use another path with --socket PATH"
    }
    if Self.mayCreate(path) { return "start one with: \(daemon.text) --socket \(Self.word(path))" }
    return "try one for a shell of its own: \(bindctlCommand) session -- bash"
  }

  // MARK: Permissions

  private func admission(_ place: SocketSearch.Place) -> String {
    guard let obstacle = Self.obstacle(to: place.path) else {
      return "ask the administrator, or use another socket with --socket PATH"
    }
    let user = SocketAdmission.Obstacle.name(ofUser: geteuid())
    let step: String
    if place.origin == "$XDG_RUNTIME_DIR", obstacle.owner != geteuid() {
      step = "XDG_RUNTIME_DIR is that of another user; type: unset XDG_RUNTIME_DIR"
    } else if let command = obstacle.command(for: user) {
      let isMember = Account(user)?.groups.contains(obstacle.group) ?? false
      step =
        isMember
        ? "\(user) is a member of this group, but not in this session: log in again"
        : "\(user) is not in this group: \(command), then log in again"
    } else {
      step = "ask \(obstacle.ownerName), or use another socket with --socket PATH"
    }
    return "\(obstacle.text); \(step)"
  }

  /// Returns what keeps this process from a socket; `nil` for nothing that can be seen.
  static func obstacle(to path: String) -> SocketAdmission.Obstacle? {
    var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
    let count = getgroups(CInt(groups.count), &groups)
    return SocketAdmission.obstacle(
      to: path, user: geteuid(), groups: [getegid()] + groups.prefix(Int(max(0, count))))
  }

  // MARK: Start

  /// The command that starts a unit with one of the sockets; `nil` if none is installed.
  private var startCommand: String? {
    let paths = attempts.map(\.place.path)
    let (unit, directory) = (daemon.text + ".socket", daemon.directory)
    if paths.contains("/run/\(directory)/bus.sock"), access("/run/systemd/system", F_OK) == 0,
      Self.isUnit(unit, in: Self.systemUnits)
    {
      return (geteuid() == 0 ? "" : "sudo ") + "systemctl start \(unit)"
    }
    guard let runtime = environment("XDG_RUNTIME_DIR"), geteuid() != 0,
      paths.contains("\(runtime)/\(directory)/bus.sock"),
      access(runtime + "/systemd", F_OK) == 0
    else { return nil }
    let home = environment("HOME") ?? ""
    let data = environment("XDG_DATA_HOME") ?? home + "/.local/share"
    let own = [data + "/systemd/user", home + "/.config/systemd/user"]
    guard Self.isUnit(unit, in: own + Self.userUnits) else { return nil }
    return "systemctl --user start \(unit)"
  }

  /// The daemon that was searched for: its name is in the path of the system's socket.
  private var daemon: DaemonName {
    let system = attempts.first { $0.place.origin == "of the system" }
    return system.flatMap { DaemonName(ofSocket: $0.place.path) } ?? .binderd
  }

  private static let systemUnits = [
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system",
  ]

  private static let userUnits = [
    "/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user",
  ]

  private static func isUnit(_ name: String, in directories: [String]) -> Bool {
    directories.contains { access("\($0)/\(name)", R_OK) == 0 }
  }

  /// Returns whether this user may create a file at a path, or the directories on the way to it.
  private static func mayCreate(_ path: String) -> Bool {
    var end = path.endIndex
    while let slash = path[..<end].lastIndex(of: "/") {
      let parent = slash == path.startIndex ? "/" : String(path[..<slash])
      if access(parent, F_OK) == 0 { return access(parent, W_OK | X_OK) == 0 }
      guard slash > path.startIndex else { return false }
      end = slash
    }
    return access(".", W_OK | X_OK) == 0
  }

  /// Returns a path as one word of a shell.
  private static func word(_ path: String) -> String {
    let isPlain = path.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "/._-+:@".contains($0))
    }
    return isPlain ? path : "'" + path.replacing("'", with: #"'\''"#) + "'"
  }

  /// Returns the value of a variable; `nil` if it is unset.
  private func environment(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
  }
}

/// A user of this system and its groups.
struct Account {
  let uid: UInt32
  let groups: [UInt32]

  /// - Parameter user: A name or a number. The result is `nil` for an unknown name; an unknown
  ///   number has no groups.
  init?(_ user: String) {
    let number = UInt32(user)
    guard let entry = number.map({ getpwuid($0) }) ?? getpwnam(user) else {
      guard let number else { return nil }
      (uid, groups) = (number, [])
      return
    }
    uid = entry.pointee.pw_uid
    var count: CInt = 64
    while true {
      var groups = [gid_t](repeating: 0, count: Int(count))
      let room = count
      if getgrouplist(entry.pointee.pw_name, entry.pointee.pw_gid, &groups, &count) >= 0 {
        self.groups = Array(groups.prefix(Int(count)))
        return
      }
      count = max(count, room * 2)
    }
  }
}
