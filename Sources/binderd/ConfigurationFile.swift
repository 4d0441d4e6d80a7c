import Configuration
import Glibc

/// The configuration file of this daemon, read whenever it is asked for.
struct ConfigurationFile {
  /// How long it may be.
  private static let maxBytes = 1 << 20

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

  /// Whether there is none, so that the defaults hold.
  var isMissing: Bool { !isNamed && access(path, F_OK) != 0 && errno == ENOENT }

  func read() throws(ConfigurationFaults) -> Configuration {
    guard !isMissing else { return Configuration(.system) }
    return try Configuration(parsing: bytes(), file: path, .system)
  }

  private func bytes() throws(ConfigurationFaults) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw fault(String(cString: strerror(errno))) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw fault(String(cString: strerror(errno))) }
    guard status.st_mode & S_IFMT != S_IFDIR else { throw fault("it is a directory") }
    if status.st_mode & S_IFMT == S_IFREG { try checkOwner(status) }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 14)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw fault(String(cString: strerror(errno))) }
      guard count > 0 else { return bytes }
      bytes += chunk[..<count]
      guard bytes.count <= Self.maxBytes else {
        throw fault("it has more than \(Self.maxBytes) bytes")
      }
    }
  }

  /// Whoever may write it says who may do what.
  private func checkOwner(_ status: stat) throws(ConfigurationFaults) {
    guard status.st_uid == 0 || status.st_uid == geteuid() else {
      throw fault("it belongs to user \(status.st_uid), not to root or to the daemon's own")
    }
    guard status.st_mode & S_IWOTH == 0 else { throw fault("everybody may write it") }
  }

  private func fault(_ message: String) -> ConfigurationFaults {
    ConfigurationFaults([ConfigurationFault(file: path, message: message)])
  }
}

extension Accounts {
  /// The users and groups that this system knows.
  fileprivate static let system = Accounts(
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
