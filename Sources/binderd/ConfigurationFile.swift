import Binders
import Configuration
import Glibc

/// The configuration file of this daemon, read whenever it is asked for.
struct ConfigurationFile {
  let path: String

  /// Whether somebody has named it: then it must be there.
  private let isNamed: Bool

  init(_ options: Options) {
    isNamed = options.configuration != nil
    path = options.configuration ?? Self.standardPath
  }

  /// That of the machine for root and for the service of the machine, else that of the user.
  private static var standardPath: String {
    if let directory = Options.environment("CONFIGURATION_DIRECTORY") {
      return directory + "/binder.conf"
    }
    if getuid() == 0 { return "/etc/binder/binder.conf" }
    let home = Options.environment("HOME") ?? "."
    return (Options.environment("XDG_CONFIG_HOME") ?? home + "/.config") + "/binder/binder.conf"
  }

  /// Where it is looked for.
  var directory: String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  }

  /// Whether there is none, so that the defaults hold.
  var isMissing: Bool { !isNamed && access(path, F_OK) != 0 && errno == ENOENT }

  func read() throws(ConfigurationFaults) -> Configuration {
    guard !isMissing else { return Configuration(.system) }
    let file = TrustedFile(path: path)
    let bytes = try file.read()
    // Nobody names a device such as /dev/null by mistake.
    var configuration =
      bytes.isEmpty && file.isDevice
      ? Configuration(.system) : try Configuration(parsing: bytes, file: path, .system)
    configuration.hideSummaries(chatSummaries, file: path)
    return configuration
  }
}

extension Accounts {
  /// The users and groups that this system knows.
  static let system = Accounts(
    user: { name in
      var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
      var text = [CChar](repeating: 0, count: 16 << 10)
      let status = getpwnam_r(name, &entry, &text, text.count, &found)
      return status == 0 && found != nil ? entry.pw_uid : nil
    },
    group: { name in
      var (entry, found) = (Glibc.group(), UnsafeMutablePointer<Glibc.group>?.none)
      // A group of many members takes much room.
      var text = [CChar](repeating: 0, count: 1 << 20)
      let status = getgrnam_r(name, &entry, &text, text.count, &found)
      return status == 0 && found != nil ? entry.gr_gid : nil
    })
}
