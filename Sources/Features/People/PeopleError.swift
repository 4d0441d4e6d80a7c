package import EventSourcing

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
