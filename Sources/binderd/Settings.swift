import Configuration
internal import Facts
import Glibc
import JournalSQLite
import Services
import Wire

/// What holds: what the command line says, then the configuration file, then the defaults.
struct Settings {
  let options: Options
  let configuration: Configuration

  init(options: Options, configuration: Configuration) {
    self.options = options
    self.configuration = configuration
  }

  /// What holds by the configuration file as it is.
  init(reading options: Options) throws(ConfigurationFaults) {
    self.init(options: options, configuration: try ConfigurationFile(options).read())
  }

  var socketPath: String {
    if let socket = options.socket ?? configuration.socket { return socket }
    if let runtime = Options.environment("XDG_RUNTIME_DIR"), getuid() != 0 {
      return runtime + "/binder/bus.sock"
    }
    return "/run/binder/bus.sock"
  }

  /// The journal, from the root on: whoever is told of it may be in another directory.
  var journalPath: String {
    let path = namedJournal
    guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
    defer { free(directory) }
    let name = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
    return String(cString: directory) + "/" + name
  }

  private var namedJournal: String {
    if let journal = options.journal ?? configuration.journal { return journal }
    if let state = Options.environment("STATE_DIRECTORY") { return state + "/journal.db" }
    if getuid() == 0 { return "/var/lib/binder/journal.db" }
    if let state = Options.environment("XDG_STATE_HOME") { return state + "/binder/journal.db" }
    return (Options.environment("HOME") ?? ".") + "/.local/state/binder/journal.db"
  }

  /// Where the `*.bind` files are.
  var bindDirectory: BindDirectory {
    if let named = options.bindDirectory { return BindDirectory(path: named, isNamed: true) }
    let beside = ConfigurationFile(options).directory + "/bind.d"
    return BindDirectory(
      path: configuration.bindDirectory ?? beside, isNamed: configuration.bindDirectory != nil)
  }

  /// `nil` when nothing is to be written.
  var durability: SQLiteStore.Durability? {
    guard !options.isReadOnly else { return nil }
    return switch options.durability ?? configuration.durability ?? .always {
    case .always: .always
    case .interval(let milliseconds): .interval(milliseconds: milliseconds)
    case .os: .os
    }
  }
}

extension Limits {
  /// The limits for a process that may have so many descriptors, of which the journal needs some.
  func fitting(_ descriptors: Int) -> Limits {
    var limits = self
    limits.connections = max(1, min(connections, descriptors - 64))
    limits.connectionsPerUser = max(1, min(connectionsPerUser, limits.connections / 2))
    return limits
  }
}

extension RetentionRule {
  /// What the configuration says of some streams.
  init(_ retention: Retention) {
    self.init(
      streams: retention.streams.text, maxAge: retention.maxAge.map { Int64($0) * 1_000_000 },
      maxCount: retention.maxCount.map { Int($0) }, maxBytes: retention.maxBytes.map { Int($0) },
      matches: { [streams = retention.streams] in streams.matches($0) })
  }
}
