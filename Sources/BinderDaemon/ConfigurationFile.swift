import Configuration
import EventLoop
import Glibc

/// The configuration file of this daemon; each read opens it again.
struct ConfigurationFile {
  /// `nil` if none is named and no home directory is known.
  let path: String?

  /// Whether the command line names it; it must exist then.
  private let isNamed: Bool

  /// For each source that sums up others, their pattern.
  private let summaries: [String: String]

  init(_ options: Options) {
    isNamed = options.configuration != nil
    path = options.configuration ?? Self.standardPath(of: options.program)
    summaries = options.program.summaries
  }

  /// The system-wide path for root and the system service, otherwise the per-user path.
  private static func standardPath(of program: Program) -> String? {
    let name = program.directory
    if let directory = Options.environment("CONFIGURATION_DIRECTORY") {
      return "\(directory)/\(name).conf"
    }
    if getuid() == 0 { return "/etc/\(name)/\(name).conf" }
    let parent = Options.directory("XDG_CONFIG_HOME") ?? Process.home.map { $0 + "/.config" }
    return parent.map { "\($0)/\(name)/\(name).conf" }
  }

  /// The directory of the file; `nil` if the file has no path.
  var directory: String? {
    path.map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
  }

  /// Whether it does not exist, so that the defaults apply.
  var isMissing: Bool {
    guard let path else { return true }
    return !isNamed && access(path, F_OK) != 0 && errno == ENOENT
  }

  func read() throws(ConfigurationFaults) -> Configuration {
    guard let path, !isMissing else { return Configuration(.system) }
    let file = TrustedFile(path: path)
    let bytes = try file.read()
    // A device such as /dev/null is never named by mistake, so an empty one is valid.
    var configuration =
      bytes.isEmpty && file.isDevice
      ? Configuration(.system) : try Configuration(parsing: bytes, file: path, .system)
    configuration.hideSummaries(summaries, file: path)
    return configuration
  }
}

extension Accounts {
  /// The users and groups of this system.
  static let system = Accounts(
    user: { name in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      var text = [CChar](repeating: 0, count: 16 << 10)
      let status = getpwnam_r(name, &entry, &text, text.count, &found)
      return status == 0 && found != nil ? entry.pw_uid : nil
    },
    group: { name in
      var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
      // A group with many members needs much room.
      var text = [CChar](repeating: 0, count: 1 << 20)
      let status = getgrnam_r(name, &entry, &text, text.count, &found)
      return status == 0 && found != nil ? entry.gr_gid : nil
    }, owner: Process.user)
}
