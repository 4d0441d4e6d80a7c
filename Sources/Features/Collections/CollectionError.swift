package import EventSourcing

/// An error from reading or changing a list or a map.
package enum CollectionError: ServiceError, Equatable {
  case badName(rule: String)
  /// A whole list must be set to an array.
  case notAnArray
  /// A whole map must be set to an object.
  case notAnObject
  case badValue(ValueFault)
  case tooMany(max: Int)
  /// One command would write more elements.
  case tooManyWritten(max: Int)
  /// The index is out of range; `max` is -1 for an empty list.
  case noIndex(parameter: String, index: Int, max: Int)
  case noKey(String)
  case badKey(bytes: Int)
  /// An element does not fit the type that is declared for it.
  case wrongType(TypeMismatch)

  package var kind: ServiceErrorKind {
    switch self {
    case .badName(let rule): .invalid(parameter: "name", expected: rule)
    case .notAnArray, .notAnObject: .invalid(parameter: "value", expected: description)
    case .badValue(let fault): .invalid(parameter: "value", expected: fault.expected)
    case .tooManyWritten(let max):
      .invalid(parameter: "value", expected: "at most \(max) elements")
    case .tooMany: .rejected(reason: "too_many")
    case .noIndex(let parameter, _, let max):
      .invalid(parameter: parameter, expected: max < 0 ? "a list with elements" : "0 to \(max)")
    case .noKey(let key): .notFound(what: "key", id: key)
    case .wrongType(let mismatch): mismatch.kind
    case .badKey: .invalid(parameter: "key", expected: "1 to \(MapsService.maxKeyBytes) bytes")
    }
  }

  package var description: String {
    switch self {
    case .badName(let rule): rule
    case .notAnArray: "the value of a list is an array"
    case .notAnObject: "the value of a map is an object"
    case .badValue(let fault): "\(fault)"
    case .tooManyWritten(let max): "one command writes at most \(max) elements"
    case .tooMany(let max): "there are at most \(max) elements"
    case .noIndex(_, let index, let max):
      max < 0 ? "the list is empty" : "index \(index) is not within 0 to \(max)"
    case .noKey(let key): "there is no key '\(key)'"
    case .wrongType(let mismatch): "\(mismatch)"
    case .badKey(let bytes): "a key has 1 to \(MapsService.maxKeyBytes) bytes, this has \(bytes)"
    }
  }
}
