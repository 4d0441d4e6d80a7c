package import EventSourcing

/// The reason why a source cannot be set.
package enum NotWritable: ServiceError {
  case missing(String)
  case fixed(String)
  /// Clients set only its parts; they have these names.
  case inParts(String, [String])
  case refused(any ServiceError)

  package var kind: ServiceErrorKind {
    switch self {
    case .missing(let source): .notFound(what: "source", id: source)
    case .fixed, .inParts: .rejected(reason: "not_writable")
    case .refused(let error): Self.kind(of: error)
    }
  }

  /// Maps the service's parameter `name` to the parameter `source` of `set`.
  private static func kind(of error: any ServiceError) -> ServiceErrorKind {
    guard case .invalid("name", let expected) = error.kind else { return error.kind }
    return .invalid(parameter: "source", expected: expected)
  }

  package var description: String {
    switch self {
    case .missing(let source): "no source '\(source)'"
    case .fixed(let source): "source '\(source)' is not writable"
    case .inParts(let source, let parts):
      "'\(source)' is set by its \(parts.joined(separator: " and its "))"
    case .refused(let error): "\(error)"
    }
  }
}
