package import JSON

/// What `is` and `wait` ask of a source.
package struct Condition: Equatable, Sendable {
  /// How two values are compared.
  package enum Comparison: String, CaseIterable, Sendable {
    // Those of two characters first: they begin like those of one.
    case equal = "=="
    case notEqual = "!="
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case less = "<"
    case greater = ">"
    /// With a value of `true` that there is one, with `false` that there is none.
    case exists
  }

  /// The source.
  package let source: String

  package let comparison: Comparison
  package let value: JSONText

  private let wasQuoted: Bool

  /// A source that has a value.
  package init(_ source: String, is value: JSONText) {
    self.source = source
    comparison = .equal
    self.value = value
    wasQuoted = true
  }

  /// A condition in one word, as `a/b > 20`, `a/b exists` or `a/b !exists`; `nil` when it is the name
  /// of a source alone.
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

  /// Whether there is one value to compare with, that can be compared so, and no second comparison:
  /// nobody waits for a typing error.
  package var isWhole: Bool {
    let isOrder = ![.equal, .notEqual, .exists].contains(comparison)
    guard case .string(let word) = value.value else {
      return !isOrder || value.order(to: value) != nil
    }
    guard let first = word.unicodeScalars.first else { return wasQuoted }
    if wasQuoted { return true }
    return !"=!<>".unicodeScalars.contains(first) && !(isOrder && word.contains(" "))
  }

  /// Whether a value is as wanted, decided as the daemon decides it; a source that is gone has none.
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
  /// The condition as people type it.
  package var description: String {
    comparison == .exists
      ? "\(source) \(value == JSONText(true) ? "" : "!")exists"
      : "\(source) \(comparison.rawValue) \(value)"
  }
}
