package import JSON

/// A condition on a value, or on the part of it at a JSON Pointer.
///
/// Filters, the daemon's `wait`, and `is` and `wait` of the command line all use this type, so that
/// they cannot disagree. Numbers compare exactly, however large they are.
///
/// ```swift
/// let isWarm = try Condition(at: "/t", ">", JSONText(parsing: "20"))
/// let holds = isWarm.holds(for: try JSONText(parsing: #"{"t":20.5}"#))
/// ```
package struct Condition: Equatable, Sendable {
  /// The operators, as clients and users write them.
  package enum Operator: String, CaseIterable, Sendable {
    /// Equal: numbers by value, however they are written, and members in any order.
    ///
    /// Values of different types are never equal.
    case equal = "=="
    /// Not equal, or missing.
    case notEqual = "!="
    /// Less, both numbers or both strings; see ``JSONText/order(to:)``.
    case less = "<"
    case lessOrEqual = "<="
    case greater = ">"
    case greaterOrEqual = ">="
    /// Equal to one element of an array.
    case isIn = "in"
    /// Present if the operand is `true`, missing if it is `false`; `null` counts as present.
    case exists
    /// A string that begins with the operand.
    case prefix
  }

  /// The reason why a condition is invalid.
  package struct Fault: Error, Equatable {
    package enum Member: String, Sendable {
      case path, op, value
    }

    /// The invalid member.
    package let member: Member
    package let expected: String
    package let got: String
  }

  /// The place of the tested part.
  package let path: JSONPointer
  package let comparison: Operator

  /// The value to compare with; of ``Operator/exists``, `true` or `false`.
  package let operand: JSONText

  /// The elements of the operand, for ``Operator/isIn``.
  private let elements: [JSONText]

  /// The decoded operand, for ``Operator/prefix``.
  private let prefix: String

  /// Creates a condition that the whole value is equal to another one.
  package init(equalTo value: JSONText) {
    (path, comparison, operand, elements, prefix) = (.root, .equal, value, [], "")
  }

  /// Creates a condition from its members, as a client or a user has written them.
  ///
  /// - Parameter operand: `nil` if it was omitted, which only ``Operator/exists`` allows.
  package init(at path: String, _ op: String, _ operand: JSONText?) throws(Fault) {
    guard let place = JSONPointer(path) else {
      throw Fault(
        member: .path, expected: "a JSON Pointer: empty, or a / before each part", got: "'\(path)'")
    }
    guard let comparison = Operator(rawValue: op) else {
      let all = Operator.allCases.map(\.rawValue).joined(separator: " ")
      throw Fault(member: .op, expected: all, got: "'\(op)'")
    }
    let operand = operand ?? (comparison == .exists ? JSONText(true) : nil)
    guard let operand, comparison.takes(operand) else {
      throw Fault(
        member: .value, expected: comparison.expected, got: operand?.kind ?? "nothing")
    }
    self.path = place
    self.comparison = comparison
    self.operand = operand
    elements = comparison == .isIn ? operand.elements ?? [] : []
    prefix = comparison == .prefix ? operand.string ?? "" : ""
  }

  /// Returns whether the condition holds for a value; `nil` means no value.
  package func holds(for value: JSONText?) -> Bool { holds(forPart: value.flatMap(path.find)) }

  /// Returns whether the condition holds for the value at ``path``.
  ///
  /// - Parameter value: `nil` for a missing value, which meets only ``Operator/notEqual`` and
  ///   ``Operator/exists`` with `false`.
  package func holds(forPart value: JSONText?) -> Bool {
    switch comparison {
    case .equal: value?.isSame(as: operand) ?? false
    case .notEqual: !(value?.isSame(as: operand) ?? false)
    case .less: value?.order(to: operand) == .less
    case .lessOrEqual: [.less, .same].contains(value?.order(to: operand))
    case .greater: value?.order(to: operand) == .more
    case .greaterOrEqual: [.more, .same].contains(value?.order(to: operand))
    case .isIn: elements.contains { value?.isSame(as: $0) ?? false }
    case .exists: (value != nil) == (operand == JSONText(true))
    case .prefix: value?.string?.utf8.starts(with: prefix.utf8) ?? false
    }
  }
}

extension Condition.Operator {
  /// The infix operators.
  ///
  /// `<=` comes before `<`, because the first match wins.
  fileprivate static let signs: [Self] = [
    .equal, .notEqual, .lessOrEqual, .greaterOrEqual, .less, .greater,
  ]

  fileprivate var isOrder: Bool {
    ![.equal, .notEqual].contains(self) && Self.signs.contains(self)
  }

  fileprivate func takes(_ operand: JSONText) -> Bool {
    switch self {
    case .equal, .notEqual: true
    case .less, .lessOrEqual, .greater, .greaterOrEqual: operand.order(to: operand) != nil
    case .isIn: operand.elements?.isEmpty == false
    case .exists: operand.bool != nil
    case .prefix: operand.string != nil
    }
  }

  /// The operands that the operator takes.
  fileprivate var expected: String {
    switch self {
    case .equal, .notEqual: "a value"
    case .less, .lessOrEqual, .greater, .greaterOrEqual: "a number or a string"
    case .isIn: "an array of one value at least"
    case .exists: "true, false, or nothing"
    case .prefix: "a string"
    }
  }
}

extension JSONText {
  /// Returns whether two values are equal.
  ///
  /// Most unequal values are found without parsing them.
  fileprivate func isSame(as other: JSONText) -> Bool {
    if self == other { return true }
    if let order = order(to: other) { return order == .same }
    guard let first = text.utf8.first, first == other.text.utf8.first,
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    else { return false }
    return isEquivalent(to: other)
  }

  /// The kind of a refused operand.
  fileprivate var kind: String {
    switch text.utf8.first {
    case UInt8(ascii: "{"): "object"
    case UInt8(ascii: "["): text == "[]" ? "an empty array" : "array"
    case UInt8(ascii: "\""): "string"
    case UInt8(ascii: "t"), UInt8(ascii: "f"): "bool"
    case UInt8(ascii: "n"): "null"
    default: "number"
    }
  }
}

// MARK: Command line

/// A condition on the value of a source, as users write it: `a/b > 20`.
package struct SourceCondition: Equatable, Sendable, CustomStringConvertible {
  /// The name of the source.
  package let source: String
  package let condition: Condition

  /// Creates a condition that a source equals a value.
  package init(_ source: String, is value: JSONText) {
    self.source = source
    condition = Condition(equalTo: value)
  }

  /// Parses a condition such as `a/b > 20`, `a/b exists` or `a/b !exists`.
  ///
  /// Returns `nil` if the text has no operator, as a source name alone.
  ///
  /// - Throws: The fault of a missing source or operand, a second operator, or a value that does not
  ///   fit the operator. So typing errors are reported at once.
  package init?(typed text: String) throws(Condition.Fault) {
    let words = text.split(separator: " ")
    if words.count == 2, words[1] == "exists" || words[1] == "!exists" {
      source = String(words[0])
      condition = try Condition(at: "", "exists", JSONText(words[1] == "exists"))
      return
    }
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }),
      let comparison = Condition.Operator.signs.first(where: {
        text[start...].hasPrefix($0.rawValue)
      })
    else { return nil }
    source = Self.trim(text[..<start])
    let operand = Self.trim(text[start...].dropFirst(comparison.rawValue.count))
    guard !source.isEmpty, Self.isWhole(operand, comparison) else {
      throw Condition.Fault(member: .value, expected: comparison.expected, got: "'\(operand)'")
    }
    condition = try Condition(at: "", comparison.rawValue, JSONText(typed: operand))
  }

  /// Returns whether an operand is complete: neither empty nor a second operator.
  private static func isWhole(_ operand: String, _ comparison: Condition.Operator) -> Bool {
    guard let first = operand.first else { return false }
    guard case .string = JSONText(typed: operand).value, first != "\"" else { return true }
    return !"=!<>".contains(first) && !(comparison.isOrder && operand.contains(" "))
  }

  /// Returns whether the value of the source satisfies the condition; `nil` means no value.
  package func holds(for value: JSONText?) -> Bool { condition.holds(for: value) }

  private static func trim(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }

  /// Whether it asks if the source has a value, whatever the value.
  package var isExistence: Bool { condition.comparison == .exists }

  /// The condition as a user types it.
  package var description: String {
    condition.comparison == .exists
      ? "\(source) \(condition.operand == JSONText(true) ? "" : "!")exists"
      : "\(source) \(condition.comparison.rawValue) \(condition.operand)"
  }
}

extension JSONText {
  /// Parses a value as a user types it: JSON if it is valid, otherwise a string.
  ///
  /// JSON with more members than the daemon accepts is still JSON; the daemon then refuses it.
  package init(typed text: String) {
    self =
      (try? JSONText(parsing: text, maxMembers: JSONLimits.anyMembers)) ?? JSONText(string: text)
  }
}
