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

  /// A condition in one word, as `a/b > 20`; `nil` when it is the name of a source alone.
  package init?(_ text: String) {
    guard let start = text.firstIndex(where: { "=!<>".contains($0) }),
      let comparison = Comparison.allCases.first(where: { text[start...].hasPrefix($0.rawValue) })
    else { return nil }
    source = Self.trim(text[..<start])
    self.comparison = comparison
    let operand = Self.trim(text[start...].dropFirst(comparison.rawValue.count))
    value = JSONText(typed: operand)
    wasQuoted = operand.hasPrefix("\"")
  }

  /// Whether there is one value to compare with, and no second comparison: what is typed wrong is not
  /// to be waited for.
  package var isWhole: Bool {
    guard case .string(let word) = value.value else { return true }
    guard let first = word.unicodeScalars.first else { return wasQuoted }
    if wasQuoted { return true }
    let isOrder = comparison != .equal && comparison != .notEqual
    return !"=!<>".unicodeScalars.contains(first) && !(isOrder && word.contains(" "))
  }

  /// Whether a value is as wanted; a source that is gone has none.
  ///
  /// Numbers are smaller or greater than numbers, strings than strings, and nothing else.
  package func holds(for present: JSONText?) -> Bool {
    guard let present else { return comparison == .notEqual }
    switch comparison {
    case .equal: return present.isEquivalent(to: value)
    case .notEqual: return !present.isEquivalent(to: value)
    case .less: return Self.isLess(present, value)
    case .greater: return Self.isLess(value, present)
    case .lessOrEqual: return Self.isLess(present, value) || present.isEquivalent(to: value)
    case .greaterOrEqual: return Self.isLess(value, present) || present.isEquivalent(to: value)
    }
  }

  private static func isLess(_ a: JSONText, _ b: JSONText) -> Bool {
    switch (a.value, b.value) {
    case (.number(let a), .number(let b)): a.double < b.double
    case (.string(let a), .string(let b)): a < b
    default: false
    }
  }

  private static func trim(_ text: Substring) -> String {
    String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
  }
}

extension Condition: CustomStringConvertible {
  /// The condition as people type it.
  package var description: String { "\(source) \(comparison.rawValue) \(value)" }
}
