package import EventSourcing
package import JSON
internal import Model

/// The event of a declaration of a type.
package enum TypeEvent: ServiceEvent, Codable, Equatable {
  case declared(pattern: String, type: String)
  case removed(pattern: String)

  package static var kinds: Set<String> { ["declared", "removed"] }
}

/// The types that users have declared, by pattern.
package struct DeclaredTypes: ServiceState, Codable {
  package struct Entry: Codable, Equatable {
    package let type: String
    package let uid: UInt32
  }

  /// The source of all of them, and their stream.
  static let source = "types/declared"

  package private(set) var entries: [String: Entry] = [:]

  package init() {}

  package mutating func apply(_ event: TypeEvent, at place: EventContext) {
    switch event {
    case .declared(let pattern, let type):
      entries[pattern] = Entry(type: type, uid: place.uid ?? 0)
    case .removed(let pattern): entries[pattern] = nil
    }
  }

  /// The number of types of patterns with wildcards.
  var patterns: Int { entries.keys.count { $0.contains("*") } }

  /// Returns the number of types that a user has declared.
  func count(of uid: UInt32) -> Int { entries.values.count { $0.uid == uid } }

  package func value(of source: String) -> JSONText? {
    guard source == Self.source, !entries.isEmpty else { return nil }
    // In order, so that equal types have equal texts, also in a branch.
    var buffer = ByteBuffer()
    buffer.object {
      for (pattern, entry) in entries.sorted(by: { $0.key < $1.key }) {
        $0.key(quoted: pattern)
        $0.append(quoted: entry.type)
      }
    }
    return JSONText(trusted: buffer.string)
  }

  package var sources: some Sequence<String> { entries.isEmpty ? [] : [Self.source] }

  package static func sources(changedBy event: TypeEvent, at place: EventContext) -> [String] {
    [Self.source]
  }
}

/// An error from declaring or removing a type.
package enum TypesError: ServiceError, Equatable {
  case badPattern(rule: String)
  case badType(rule: String)
  case inFile(pattern: String, place: String)
  case tooMany(max: Int)
  case tooManyPatterns(max: Int)

  package var kind: ServiceErrorKind {
    switch self {
    case .badPattern(let rule): .invalid(parameter: "pattern", expected: rule)
    case .badType(let rule): .invalid(parameter: "type", expected: rule)
    case .inFile: .rejected(reason: "in_file")
    case .tooMany, .tooManyPatterns: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .badPattern(let rule), .badType(let rule): rule
    case .inFile(let pattern, let place):
      "the type of '\(pattern)' is declared in \(place): change it there and reload"
    case .tooManyPatterns(let max): "at most \(max) types of patterns with wildcards are declared"
    case .tooMany(let max): "at most \(max) types are declared by one user; remove some"
    }
  }
}
