/// An error in an expression, with its column, the text found there and the expected text.
public struct BindFault: Error, Equatable, Sendable {
  /// The kind of an error.
  public enum Kind: Sendable {
    /// A part is missing or misplaced.
    case syntax
    /// The expression exceeds a limit.
    case tooMuch
    /// The operator is not one of the six.
    case unknownOperator
    /// No transformer has that name.
    case unknownTransformer
    /// An argument does not fit the transformer.
    case argument
    /// The object does not have that key.
    case unknownKey
    /// All names are known, but the binding is not possible.
    case notBindable
  }

  /// The kind of the error.
  public let kind: Kind
  /// The column, in Unicode scalars from 1.
  public let column: Int
  /// The text found there; empty at the end of the expression.
  public let found: String
  /// The texts that would be valid there.
  public let expected: [String]
  /// A short message without the column.
  public let message: String

  init(_ kind: Kind, _ sentence: String, at column: Int, found: String, expected: [String] = []) {
    self.kind = kind
    message = sentence
    self.column = column
    self.found = found
    self.expected = expected
  }
}

extension BindFault: CustomStringConvertible {
  public var description: String { "\(message) at column \(column)" }
}

extension BindFault {
  /// Returns the fault for an unexpected part.
  static func syntax(_ expected: [String], at column: Int, found: String) -> BindFault {
    let there = found.isEmpty ? "the end" : "'\(found)'"
    let listed = expected.map { $0.first?.isLetter == true ? $0 : "'\($0)'" }
      .joined(separator: " or ")
    return BindFault(
      .syntax, "expected \(listed), found \(there)", at: column, found: found, expected: expected)
  }

  /// Returns the fault for an unknown operator.
  static func unknownOperator(_ sign: String, at column: Int) -> BindFault {
    BindFault(
      .unknownOperator, "unknown operator '\(sign)'", at: column, found: sign,
      expected: BindOperator.allCases.map(\.rawValue))
  }
}
