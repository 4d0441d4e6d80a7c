package import EventSourcing

/// An error from changing what there is to do.
package enum TodoError: ServiceError, Equatable {
  case unknown(id: Int)
  case badTitle
  case tooMany(max: Int)
  /// All ids have been used.
  case noNumberLeft

  package var kind: ServiceErrorKind {
    switch self {
    case .unknown(let id): .notFound(what: "todo", id: "\(id)")
    case .badTitle: .invalid(parameter: "title", expected: description)
    case .tooMany, .noNumberLeft: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .unknown(let id): "there is nothing to do with the number \(id)"
    case .badTitle:
      "a title has 1 to \(TodoService.maxTitleLength) characters and no control characters, "
        + "\(TodoService.maxTitleBytes) bytes at most"
    case .tooMany(let max): "there are at most \(max) things to do"
    case .noNumberLeft: "there is no number left"
    }
  }
}
