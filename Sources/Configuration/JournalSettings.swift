internal import Model

/// The journal of a daemon.
package enum JournalSetting: Equatable, Sendable {
  /// A file.
  case file(path: String)

  /// A PostgreSQL database, which several daemons may share.
  case postgres(PostgresJournalSettings)
}

/// A journal in PostgreSQL.
package struct PostgresJournalSettings: Equatable, Sendable {
  /// The connection string, which may have a password.
  package var string: String

  /// Whether a server that does not wait for standbys is refused.
  package var requiresReplication = true

  package init(_ string: String) { self.string = string }
}

/// This daemon among those that share a journal.
package struct ClusterSettings: Equatable, Sendable {
  /// The name of this daemon; `nil` for the name of the machine.
  package var node: String?

  /// The address for commands that other daemons pass to their clients; `nil` for none.
  package var address: String?

  /// The time without a sign of life after which another daemon takes over.
  package var takeoverMilliseconds = 3_000

  /// The time after which commands are refused while the database is away.
  package var patienceMilliseconds = 30_000

  package init() {}
}

extension ConfigurationParser {
  func readJournal(_ node: ConfigurationValue) -> JournalSetting? {
    guard case .object = node.value else {
      // The text is not repeated: it may hold a password.
      if case .string(let text) = node.value, text.hasPrefix("postgres") {
        reader.addFault(
          at: node.offset,
          #"'journal' is a path; for a database write {"postgres": "postgres://…"}"#)
        return nil
      }
      return reader.path(node, "'journal'").map { .file(path: $0) }
    }
    let known = ["postgres", "require_replication"]
    guard let members = reader.members(of: node, "'journal'", known: known) else { return nil }
    guard let string = members["postgres"] else {
      reader.addFault(at: node.offset, "'journal' is a path, or it needs 'postgres'")
      return nil
    }
    guard let text = reader.string(string, "'postgres'") else { return nil }
    var settings = PostgresJournalSettings(text)
    if let node = members["require_replication"] {
      settings.requiresReplication = reader.bool(node, "'require_replication'") ?? true
    }
    return .postgres(settings)
  }

  func readCluster(_ node: ConfigurationValue, into settings: inout ClusterSettings) {
    let known = ["node", "address", "takeover_ms", "patience_ms"]
    guard let members = reader.members(of: node, "'cluster'", known: known) else { return }
    settings.node = members["node"].flatMap {
      reader.word($0, "'node'", ClusterSettings.nodeForm) {
        ClusterSettings.isNode($0) ? $0 : nil
      }
    }
    settings.address = members["address"].flatMap {
      reader.word($0, "'address'", ClusterSettings.addressForm) {
        ClusterSettings.isAddress($0) ? $0 : nil
      }
    }
    if let node = members["takeover_ms"],
      let value = reader.integer(node, "'takeover_ms'", in: 500...600_000)
    {
      settings.takeoverMilliseconds = value
    }
    if let node = members["patience_ms"],
      let value = reader.integer(node, "'patience_ms'", in: 0...86_400_000)
    {
      settings.patienceMilliseconds = value
    }
  }
}

extension ClusterSettings {
  package static let nodeForm = "a name of 1 to 64 of A-Z a-z 0-9 _ . -"
  package static let addressForm = "a text of 1 to 256 visible ASCII characters"

  /// Whether a text may be the name of a daemon.
  package static func isNode(_ text: String) -> Bool {
    1...64 ~= text.utf8.count
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."),
          UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Whether a text may be the address of a daemon; only people and clients read it.
  package static func isAddress(_ text: String) -> Bool {
    1...256 ~= text.utf8.count && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
  }
}
