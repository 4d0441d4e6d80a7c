import Configuration
import EventLoop
import Glibc
import Journal
import JournalPostgres
import JournalSQLite
import Model
import Wire

/// The place of a journal.
enum JournalAddress {
  case file(path: String)
  case postgres(PostgresSettings)

  /// The name for messages and for statistics; it has no password.
  var name: String {
    switch self {
    case .file(let path): path
    case .postgres(let settings): "\(settings.string)"
    }
  }

  /// The name of this daemon among those that share the journal; `nil` for a file.
  var node: String? {
    if case .postgres(let settings) = self { settings.node } else { nil }
  }
}

extension Settings {
  /// The journal that the command line or the configuration names.
  ///
  /// - Throws: ``JournalError`` if a connection string cannot be read.
  var journal: JournalAddress {
    get throws(JournalError) {
      if let location { return location }
      guard let text = options.journal else {
        guard case .postgres(let settings) = configuration.journal else {
          return .file(path: try journalPath)
        }
        return .postgres(try postgres(settings))
      }
      guard ConnectionString.isMeant(by: text) else { return .file(path: try journalPath) }
      return .postgres(try postgres(PostgresJournalSettings(text)))
    }
  }

  private func postgres(_ wanted: PostgresJournalSettings) throws(JournalError) -> PostgresSettings
  {
    let string: ConnectionString
    do throws(ConnectionString.Fault) {
      string = try ConnectionString(wanted.string)
    } catch {
      throw .unavailable(detail: error.message)
    }
    let cluster = configuration.cluster
    var settings = PostgresSettings(string, node: options.node ?? cluster.node ?? Self.machine)
    settings.daemon = options.program.name
    settings.address = options.address ?? cluster.address
    settings.requiresReplication = wanted.requiresReplication && !options.isWithoutReplication
    settings.takeoverMilliseconds = UInt64(cluster.takeoverMilliseconds)
    settings.patienceMilliseconds = UInt64(cluster.patienceMilliseconds)
    settings.version = Release.version
    return settings
  }

  /// The name of the machine, as far as it may be the name of a node.
  private static var machine: String {
    guard let name = Process.hostName, ClusterSettings.isNode(name) else { return "node" }
    return name
  }
}

extension PostgresSettings {
  /// The journal of these settings, for tools.
  var journal: PostgresJournal {
    PostgresJournal(string, requiresReplication: requiresReplication)
  }
}
