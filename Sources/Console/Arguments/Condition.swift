package import JSON

/// A condition on the value of a source, for `is` and `wait`.
package struct Condition: Equatable, Sendable {
  /// A comparison of two values.
  package enum Comparison: String, CaseIterable, Sendable {
    // Two-character operators first, because they begin like one-character ones.
    case equal = "=="
    case notEqual = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    /// The source has a value if the operand is `true`, and none if it is `false`.
    case exists
  }

  /// The name of the source.
  package let source: String

  package let comparison: Comparison
  package let value: JSONText

  private let wasQuoted: Bool

  /// Creates a condition that a source equals a value.
  package init(_ source: String, is value: JSONText) {
    self.source = source
    comparison = .equal
    self.value = value
    wasQuoted = true
  }

  /// Parses a condition such as `a/b > 20`, `a/b exists` or `a/b !exists`.
  ///
  /// Returns `nil` if the text has no comparison, as a source name alone.
  package init?(_ text: String) {
    let words = text.split(separator: " ")
    if words.count == 2, words[1] == "exists" || words[1] == "!exists" {
      (source, comparison, wasQuoted) = (String(words[0]), .exists, false)
      value = JSONText(words[1] == "exists")
      return
    }
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
    else { return nil }
    source = Self.trim(text[..<start])
    self.comparison = comparison
    let operand = Self.trim(text[start...].dropFirst(comparison.rawValue.count))
    value = JSONText(typed: operand)
    wasQuoted = operand.hasPrefix("\"")
  }

  /// Whether the operand is complete and fits the comparison.
  ///
  /// It is false for a missing operand, a second operator, or a value without an order. So `wait`
  /// reports a typing error at once.
  package var isWhole: Bool {
    let isOrder = ![.equal, .notEqual, .exists].contains(comparison)
    guard case .string(let word) = value.value else {
      return !isOrder || value.order(to: value) != nil
    }
    guard let first = word.unicodeScalars.first else { return wasQuoted }
    if wasQuoted { return true }
    return !"=!<>".unicodeScalars.contains(first) && !(isOrder && word.contains(" "))
  }

  /// Returns whether a value satisfies the condition, by the daemon's rules; `nil` means no value.
  package func holds(for present: JSONText?) -> Bool { test.holds(for: present) }

  private var test: JSONTest {
    switch comparison {
    case .equal: .equals(value)
    case .notEqual: .differs(value)
    case .less: .isLess(value)
    case .greater: .isMore(value)
    case .lessOrEqual: .isAtMost(value)
    case .greaterOrEqual: .isAtLeast(value)
    case .exists: .exists(value.bool ?? true)
    }
  }

  private static func trim(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension Condition: CustomStringConvertible {
  /// The condition as a user types it.
  package var description: String {
    comparison == .exists
      ? "\(source) \(value == JSONText(true) ? "" : "!")exists"
      : "\(source) \(comparison.rawValue) \(value)"
  }
}
