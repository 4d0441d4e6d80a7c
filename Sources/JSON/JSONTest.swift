/// A condition on one value.
///
/// Filters, the daemon's `wait` and the command line all use this type, so that they cannot
/// disagree.
public enum JSONTest: Equatable, Sendable {
  /// Equal to a value: numbers compare exactly, however they are written, and members in any order.
  ///
  /// Values of different types are never equal.
  case equals(JSONText)

  /// Not equal to a value, or missing.
  case differs(JSONText)

  /// Less than a value, both numbers or both strings; see ``JSONText/order(to:)``.
  case isLess(JSONText)
  /// Less than or equal to a value.
  case isAtMost(JSONText)
  /// Greater than a value; the opposite of ``isAtMost(_:)`` for values that have an order.
  case isMore(JSONText)
  /// Greater than or equal to a value; the opposite of ``isLess(_:)`` for values that have an
  /// order.
  case isAtLeast(JSONText)

  /// Equal to one of several values.
  case isOneOf([JSONText])

  /// Whether a value must exist; `null` counts as a value.
  case exists(Bool)

  /// A string with this prefix.
  case begins(String)

  /// Returns whether a value meets the condition.
  ///
  /// - Parameter value: `nil` for a missing value, which meets only ``differs(_:)`` and
  ///   `exists(false)`.
  public func holds(for value: JSONText?) -> Bool {
    switch self {
    case .equals(let operand): value?.isSame(as: operand) ?? false
    case .differs(let operand): !(value?.isSame(as: operand) ?? false)
    case .isLess(let operand): value?.order(to: operand) == .less
    case .isAtMost(let operand): [.less, .same].contains(value?.order(to: operand))
    case .isMore(let operand): value?.order(to: operand) == .more
    case .isAtLeast(let operand): [.more, .same].contains(value?.order(to: operand))
    case .isOneOf(let operands): operands.contains { value?.isSame(as: $0) ?? false }
    case .exists(let isWanted): (value != nil) == isWanted
    case .begins(let prefix): value?.string?.utf8.starts(with: prefix.utf8) ?? false
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
}
