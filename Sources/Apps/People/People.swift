package import EventSourcing
package import JSON

/// A person.
package struct Person: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var color: Color
}

/// The events of a person; the stream is `people/ID`.
package enum PersonEvent: ServiceEvent, Codable, Equatable {
  case created(name: String, color: Color)
  case renamed(name: String)
  case colored(color: Color)
  case removed

  package static var kinds: Set<String> { ["created", "renamed", "colored", "removed"] }
}

/// The state of all people, by id.
package struct People: ServiceState, Codable {
  package private(set) var people: [Int: Person] = [:]

  /// The id of the person created last.
  package private(set) var lastID = 0

  package init() {}

  package mutating func apply(_ event: PersonEvent, at place: EventContext) {
    guard let id = Part(place.stream)?.id else { return }
    switch event {
    case .created(let name, let color):
      people[id] = Person(id: id, name: name, color: color)
      lastID = id
    case .renamed(let name): people[id]?.name = name
    case .colored(let color): people[id]?.color = color
    case .removed: people[id] = nil
    }
  }

  package func value(of source: String) -> JSONText? {
    guard let part = Part(source), let person = people[part.id] else { return nil }
    return switch part.key {
    case nil:
      JSONText(
        trusted: #"{"id":\#(person.id),"name":\#(JSONText(string: person.name).text),"#
          + #""color":"\#(person.color.hex)"}"#)
    case .name: JSONText(string: person.name)
    case .color: JSONText(string: person.color.hex)
    }
  }

  package func has(_ source: String) -> Bool { Part(source).map { people[$0.id] != nil } ?? false }

  package var sources: some Sequence<String> {
    people.keys.lazy.flatMap { ["people/\($0)", "people/\($0)/name", "people/\($0)/color"] }
  }

  package static func sources(changedBy event: PersonEvent, at place: EventContext) -> [String] {
    let person = place.stream
    return switch event {
    case .created, .removed: [person, person + "/name", person + "/color"]
    case .renamed: [person, person + "/name"]
    case .colored: [person, person + "/color"]
    }
  }

  /// A parsed source of a person: the whole person or one property.
  package struct Part {
    package enum Key: String {
      case name
      case color
    }

    package let id: Int

    /// The property; `nil` for the whole person.
    package let key: Key?

    /// Parses a source name; returns `nil` if it is not a source of people.
    package init?(_ source: String) {
      let parts = source.split(separator: "/", omittingEmptySubsequences: false)
      guard 2...3 ~= parts.count, parts[0] == "people", let id = Int(parts[1]), id > 0,
        parts[1] == "\(id)"
      else { return nil }
      self.id = id
      guard parts.count == 3 else {
        key = nil
        return
      }
      guard let key = Key(rawValue: String(parts[2])) else { return nil }
      self.key = key
    }
  }
}

/// An error from reading or changing people.
package enum PeopleError: ServiceError, Equatable {
  case unknown(id: Int)
  case badName
  case badColor(String)
  case tooMany(max: Int)
  /// All ids have been used.
  case noNumberLeft
  /// The source is a whole person and cannot be set.
  case fixed(source: String)

  package var kind: ServiceErrorKind {
    switch self {
    case .unknown(let id): .notFound(what: "person", id: "\(id)")
    case .badName: .invalid(parameter: "name", expected: description)
    case .badColor: .invalid(parameter: "color", expected: "a hex code such as #1e90ff")
    case .tooMany, .noNumberLeft: .rejected(reason: "too_many")
    case .fixed: .rejected(reason: "not_writable")
    }
  }

  package var description: String {
    switch self {
    case .unknown(let id): "there is no person \(id)"
    case .badName:
      "a name has 1 to \(PeopleService.maxNameLength) characters and no control characters, "
        + "\(PeopleService.maxNameBytes) bytes at most"
    case .badColor: "a colour is a hex code such as #1e90ff"
    case .tooMany(let max): "there are at most \(max) people"
    case .noNumberLeft: "there is no number left for a person"
    case .fixed(let source): "'\(source)' is set by its name and its color"
    }
  }
}
