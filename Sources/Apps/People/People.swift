package import Binder
internal import JSON

/// A person.
package struct Person: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var color: Color
}

/// The people, by id; the events of one are in the stream `people/ID`.
package struct People: State {
  package enum Event: Codable, Equatable, Sendable {
    case created(name: String, color: Color)
    case renamed(name: String)
    case colored(color: Color)
    case removed
  }

  package private(set) var people = Table<Int, Person>()

  package init() {}

  package static let sources = [
    Source.rows(
      \People.people, "people/*", "The person of that number.",
      parts: [
        .part("people/*/name", "The person's name.") { $0.name },
        .part("people/*/color", "The person's colour, a hex code.") { $0.color },
      ])
  ]

  package mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .created(let name, let color): people[id] = Person(id: id, name: name, color: color)
    case .renamed(let name): people[id]?.name = name
    case .colored(let color): people[id]?.color = color
    case .removed: people[id] = nil
    }
  }

  /// 1: `{"people":{"1":{…}},"lastID":1}`; 2: `{"people":{"rows":{"1":{…}},"lastID":1}}`.
  package static let forms = [
    Upcaster.ofMembers { kept in
      kept = [
        "people": JSONText(members: [
          "rows": kept["people"] ?? JSONText(members: [:]), "lastID": kept["lastID"] ?? JSONText(0),
        ])
      ]
    }
  ]
}

/// An error from reading or changing people.
package enum PeopleError: Rejecting, Equatable, CustomStringConvertible {
  case unknown(id: Int)
  case badName
  case badColor(String)
  case tooMany(max: Int)

  package var rejection: Rejection {
    switch self {
    case .unknown(let id): .notFound("person", id).saying(description)
    case .badName: .invalid("name", description)
    case .badColor: .invalid("color", "a hex code such as #1e90ff").saying(description)
    case .tooMany: .rejected("too_many", description)
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
    }
  }
}
