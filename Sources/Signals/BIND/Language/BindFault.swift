/// Why an expression binds nothing: where, what is there, and what could be.
package struct BindFault: Error, Equatable, Sendable {
  /// What is wrong.
  package enum Kind: Sendable {
    /// Something is missing, or there is something that has no place there.
    case syntax
    /// It says more than it may.
    case tooMuch
    /// The operator is none of the six.
    case unknownOperator
    /// No transformer has that name.
    case unknownTransformer
    /// The transformer takes no such arguments.
    case argument
    /// The object has no such key.
    case unknownKey
    /// All is known, and yet it cannot be bound that way.
    case notBindable
  }

  /// What is wrong.
  package let kind: Kind
  /// Where, in Unicode scalars from 1.
  package let column: Int
  /// What is there; empty at the end of the expression.
  package let found: String
  /// What could be there.
  package let expected: [String]
  /// The fault in a few words, without the column.
  package let message: String

  init(_ kind: Kind, _ sentence: String, at column: Int, found: String, expected: [String] = []) {
    self.kind = kind
    message = sentence
    self.column = column
    self.found = found
    self.expected = expected
  }
}

extension BindFault: CustomStringConvertible {
  package var description: String { "\(message) at column \(column)" }
}

extension BindFault {
  /// Something else than what was expected.
  static func syntax(_ expected: [String], at column: Int, found: String) -> BindFault {
    let there = found.isEmpty ? "the end" : "'\(found)'"
    let listed = expected.map { $0.first?.isLetter == true ? $0 : "'\($0)'" }
      .joined(separator: " or ")
    return BindFault(
      .syntax, "expected \(listed), found \(there)", at: column, found: found, expected: expected)
  }

  /// An operator that is none of the six.
  static func unknownOperator(_ sign: String, at column: Int) -> BindFault {
    BindFault(
      .unknownOperator, "unknown operator '\(sign)'", at: column, found: sign,
      expected: BindOperator.allCases.map(\.rawValue))
  }
}
