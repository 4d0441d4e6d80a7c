import EventLoop
import Glibc

/// A file with which systemd runs a program.
///
/// The files of binderd in `systemd/` are copies of these texts; a test compares them.
struct UnitFile {
  /// The files, as `--print-unit` names them.
  enum Kind: String, CaseIterable {
    case service, socket, sysusers, tmpfiles
    case backupService = "backup-service"
    case backupTimer = "backup-timer"
    case userService = "user-service"
    case userSocket = "user-socket"

    /// All names, for messages.
    static var names: String {
      let names = allCases.map(\.rawValue)
      return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
    }
  }

  /// The name of the program and of its units.
  let name: String

  /// The name of its directories, its user and its group.
  let directory: String

  /// The absolute path of the program.
  let path: String

  /// A path that cannot be in a unit file.
  struct PathFault: Error, CustomStringConvertible {
    let path: String
    var description: String { "the path of the program is not one line of UTF-8: '\(path)'" }
  }

  /// - Parameter path: The path of the program; `nil` for this one.
  init(of program: Program, at path: String?) throws(PathFault) {
    (name, directory) = (program.name, program.directory)
    let path = path ?? Process.program
    self.path = path.hasPrefix("/") ? path : Self.absolute(path)
    guard !path.utf8.contains(where: { $0 < 0x20 }), !path.contains("\u{FFFD}") else {
      throw PathFault(path: path)
    }
  }

  private static func absolute(_ path: String) -> String {
    guard let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    return String(cString: directory) + "/" + (path.hasPrefix("./") ? path.dropFirst(2) : path[...])
  }

  func text(_ kind: Kind) -> String {
    switch kind {
    case .service: systemService
    case .socket: systemSocket
    case .sysusers: sysusers
    case .tmpfiles: tmpfiles
    case .backupService: backupService
    case .backupTimer: backupTimer
    case .userService: userService
    case .userSocket: userSocket
    }
  }

  /// The name in descriptions.
  var title: String { directory.prefix(1).uppercased() + directory.dropFirst() }

  /// The program as the first word of a command line.
  var command: String { Self.word(path) }

  /// `bindctl` beside the program.
  private var bindctl: String {
    Self.word(path[...(path.lastIndex(of: "/") ?? path.startIndex)] + "bindctl")
  }

  /// Returns a path as a word of `ExecStart=`; see systemd.service(5).
  private static func word(_ path: some StringProtocol) -> String {
    let isPlain = path.utf8.allSatisfy {
      switch $0 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "/._-+:@,".utf8.contains($0) || $0 >= 0x80
      }
    }
    if isPlain { return String(path) }
    var text = "\""
    for character in path {
      switch character {
      case "\\", "\"": text += "\\\(character)"
      case "%", "$": text += "\(character)\(character)"
      default: text.append(character)
      }
    }
    return text + "\""
  }

  // MARK: Files

  private var systemSocket: String {
    """
    [Unit]
    Description=\(title) socket
    Documentation=man:binderd(8) man:binder-protocol(7)

    [Socket]
    # Not in a RuntimeDirectory= of the service: systemd would remove it, and the socket, when the service stops.
    ListenStream=/run/\(directory)/bus.sock
    DirectoryMode=0755
    # Root and members of the group may connect.
    SocketUser=\(directory)
    SocketGroup=\(directory)
    SocketMode=0660
    \(socketEnd)
    """
  }

  private var userSocket: String {
    """
    [Unit]
    Description=\(title) socket of this user
    Documentation=man:binderd(8) man:binder-protocol(7)

    [Socket]
    ListenStream=%t/\(directory)/bus.sock
    DirectoryMode=0700
    SocketMode=0600
    \(socketEnd)
    """
  }

  private var socketEnd: String {
    """
    # New clients wait here while the daemon restarts; the kernel lowers this to net.core.somaxconn.
    Backlog=4096
    RemoveOnStop=yes

    [Install]
    WantedBy=sockets.target

    """
  }

  private var sysusers: String {
    """
    # The user that runs \(name), and the group whose members may connect. See sysusers.d(5).
    u \(directory) - "\(title) daemon" /var/lib/\(directory)

    """
  }

  private var tmpfiles: String {
    """
    # The directory of the daily backups. See tmpfiles.d(5).
    d /var/backups/\(directory) 0700 \(directory) \(directory) -

    """
  }

  private var backupTimer: String {
    """
    [Unit]
    Description=Daily backup of the \(title) journal
    Documentation=man:bindctl(1)

    [Timer]
    OnCalendar=daily
    # Not at the same moment as all other daily jobs.
    RandomizedDelaySec=1h
    # A missed backup is made up for after the next boot.
    Persistent=yes

    [Install]
    WantedBy=timers.target

    """
  }

  private var backupService: String {
    let choice = directory == "binder" ? "" : " -n \(name)"
    return """
      [Unit]
      Description=Backup of the \(title) journal
      Documentation=man:bindctl(1)
      # A daemon that runs is asked for its journal; without one the journal itself is read.
      After=\(name).socket \(name).service
      # An administrator may start it as often as needed.
      StartLimitIntervalSec=0

      [Service]
      Type=oneshot
      # A new file each time, complete and verified or not at all. Then the oldest are removed.
      ExecStart=\(bindctl)\(choice) journal backup /var/backups/\(directory) --keep 7
      Environment=SWIFT_BACKTRACE=enable=no
      Nice=10
      IOSchedulingClass=idle

      User=\(directory)
      Group=\(directory)
      UMask=0077
      ConfigurationDirectory=\(directory)
      ConfigurationDirectoryMode=0755
      StateDirectory=\(directory)
      StateDirectoryMode=0700
      # tmpfiles.d creates it; another directory in ExecStart= needs another line here.
      ReadWritePaths=-/var/backups/\(directory)
      TasksMax=64
      MemoryMax=1G

      \(Self.systemSandbox)
      ProcSubset=pid
      \(Self.kernelSandbox)

      PrivateNetwork=yes
      RestrictAddressFamilies=AF_UNIX
      IPAddressDeny=any
      SocketBindDeny=any

      \(Self.systemCalls)

      """
  }
}
