import Configuration
import Connections
import EventLoop
import EventSourcing
import Glibc
import JournalSQLite
internal import Model
import Wire

/// The effective settings: the command line, then the configuration file, then the defaults.
struct Settings {
  let options: Options
  let configuration: Configuration

  /// The journal, if it is not the one that the command line or the configuration names.
  var location: JournalAddress?

  init(options: Options, configuration: Configuration) {
    self.options = options
    self.configuration = configuration
  }

  /// Reads the configuration file for the settings.
  init(reading options: Options) throws(ConfigurationFaults) {
    self.init(options: options, configuration: try ConfigurationFile(options).read())
  }

  /// The name of the directories of this program.
  private var directory: String { options.program.directory }

  var socketPath: String {
    if let socket = options.socket ?? configuration.socket { return socket }
    if let runtime = Options.directory("XDG_RUNTIME_DIR"), getuid() != 0 {
      return "\(runtime)/\(directory)/bus.sock"
    }
    return "/run/\(directory)/bus.sock"
  }

  /// The absolute path of the journal, because clients that read it may be in another directory.
  ///
  /// - Throws: ``JournalError`` if none is named and no home directory is known.
  var journalPath: String {
    get throws(JournalError) {
      let path = try namedJournal
      guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
      defer { free(directory) }
      let name = path.hasPrefix("./") ? path.dropFirst(2) : path[...]
      return String(cString: directory) + "/" + name
    }
  }

  private var namedJournal: String {
    get throws(JournalError) {
      if let journal = options.journal { return journal }
      if case .file(let path) = configuration.journal { return path }
      if let state = Options.environment("STATE_DIRECTORY") { return state + "/journal.db" }
      if getuid() == 0 { return "/var/lib/\(directory)/journal.db" }
      if let state = Options.directory("XDG_STATE_HOME") {
        return "\(state)/\(directory)/journal.db"
      }
      if let home = Process.home { return "\(home)/.local/state/\(directory)/journal.db" }
      throw .unavailable(
        detail: "no home directory is known; set HOME or XDG_STATE_HOME, or name the journal with "
          + "--journal")
    }
  }

  /// The directory of the `*.bind` files.
  var bindDirectory: DeclarationDirectory {
    if let named = options.bindDirectory ?? configuration.bindDirectory {
      return DeclarationDirectory(path: named, isNamed: true, suffix: ".bind")
    }
    let beside = ConfigurationFile(options).directory.map { $0 + "/bind.d" }
    return DeclarationDirectory(path: beside, isNamed: false, suffix: ".bind")
  }

  /// The directory of the `*.view` files.
  var viewDirectory: DeclarationDirectory { besideBindings("view.d", ".view") }

  /// The directory of the `*.types` files.
  var typeDirectory: DeclarationDirectory { besideBindings("types.d", ".types") }

  /// The directory of the `*.service` files.
  var serviceDirectory: DeclarationDirectory { besideBindings("service.d", ".service") }

  /// Returns a directory beside that of the bindings.
  private func besideBindings(_ name: String, _ suffix: String) -> DeclarationDirectory {
    var path = bindDirectory.path
    while path?.hasSuffix("/") == true, path != "/" { path?.removeLast() }
    let parent = path.map { path in path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
    return DeclarationDirectory(
      path: parent.map { "\($0)/\(name)" }, isNamed: false, suffix: suffix)
  }

  /// The durability of the journal; `nil` if it is only read.
  var durability: Durability? {
    options.isReadOnly ? nil : options.durability ?? configuration.durability ?? .always
  }
}

extension ConnectionTable {
  func setSlowLog(_ settings: SlowLogSettings) {
    setSlowLog(limitMilliseconds: settings.milliseconds, size: settings.size)
  }
}

extension Limits {
  /// Returns the limits for a process with a number of descriptors, some of which the journal
  /// needs.
  func fitting(_ descriptors: Int) -> Limits {
    var limits = self
    limits.connections = max(1, min(connections, descriptors - 64))
    limits.connectionsPerUser = max(1, min(connectionsPerUser, limits.connections / 2))
    return limits
  }

  /// Returns the warning about a process that may have only a few descriptors; `nil` for enough.
  func warning(descriptors: Int) -> String? {
    let fitting = fitting(descriptors)
    guard descriptors < 1024, fitting.connections < connections else { return nil }
    return "at most \(descriptors) files may be open, so at most \(fitting.connections) clients"
      + " connect at a time, not \(connections); raise LimitNOFILE= of the unit, or 'ulimit -n'"
  }
}
