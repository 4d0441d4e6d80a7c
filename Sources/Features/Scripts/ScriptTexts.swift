package import EventSourcing
internal import JSON
internal import Model

/// An event of the texts of services.
package enum ScriptTextEvent: ServiceEvent, Codable, Equatable {
  /// A service has a new text.
  case changed(service: String, text: String, sha256: String)

  /// A service in a file is no more; its events stay.
  case removed(service: String)

  package static var kinds: Set<String> { ["changed", "removed"] }
}

/// The present text of each service in a file, so that a journal is complete by itself.
package struct ScriptTexts: TableState, Codable {
  package typealias Lookup = TableLookup<ScriptTexts>

  package struct Text: Codable, Sendable {
    package let sha256: String
    package let text: String
  }

  package private(set) var texts = Table<String, Text>()

  static let tables = TableList<ScriptTexts>([
    .rows(\.texts, "scripts/*", "The text of a service in a file, and its hash.")
  ])
  package var tables: TableList<ScriptTexts> { Self.tables }

  package init() {}

  package mutating func apply(_ event: ScriptTextEvent, at place: EventContext) {
    switch event {
    case .changed(let service, let text, let sha256):
      texts[service] = Text(sha256: sha256, text: text)
    case .removed(let service): texts[service] = nil
    }
  }
}
