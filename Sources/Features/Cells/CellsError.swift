package import EventSourcing

/// An error from reading or changing a cell.
package enum CellsError: ServiceError, Equatable {
  case badName(rule: String)
  case badValue(ValueFault)
  case notANumber(name: String)
  case notABoolean(name: String)
  case outOfRange(name: String)
  case differs(name: String)

  package var kind: ServiceErrorKind {
    switch self {
    case .badName(let rule): .invalid(parameter: "name", expected: rule)
    case .badValue(let fault): .invalid(parameter: "value", expected: fault.expected)
    case .notANumber: .rejected(reason: "not_a_number")
    case .notABoolean: .rejected(reason: "not_a_boolean")
    case .outOfRange: .rejected(reason: "out_of_range")
    case .differs: .rejected(reason: "value_differs")
    }
  }

  package var description: String {
    switch self {
    case .badName(let rule): rule
    case .badValue(let fault): "\(fault)"
    case .notANumber(let name): "cell '\(name)' is not a number"
    case .notABoolean(let name): "cell '\(name)' is neither true nor false"
    case .outOfRange(let name):
      "the sum for cell '\(name)' needs more than 64 digits or is beyond a double"
    case .differs(let name): "cell '\(name)' holds another value"
    }
  }
}
