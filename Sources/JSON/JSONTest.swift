/// A question about one value.
///
/// The only place where conditions are decided: filters, the daemon's `wait` and the command line ask
/// here, so that they cannot disagree.
public enum JSONTest: Equatable, Sendable {
  /// The same value: numbers exactly and however they are written, members in any order; values of
  /// different types are never equal.
  case equals(JSONText)

  /// Another value than ``equals(_:)`` takes, or none.
  case differs(JSONText)

  /// A number and a number, or a string and a string; see ``JSONText/order(to:)``.
  case isLess(JSONText)
  /// As ``isLess(_:)``, or the same.
  case isAtMost(JSONText)
  /// The contrary of ``isAtMost(_:)``, for values that have an order.
  case isMore(JSONText)
  /// The contrary of ``isLess(_:)``, for values that have an order.
  case isAtLeast(JSONText)

  /// The same value as one of these.
  case isOneOf([JSONText])

  /// A value, `null` as well, or none.
  case exists(Bool)

  /// A string that begins so.
  case begins(String)

  /// Whether the answer is yes.
  ///
  /// - Parameter value: `nil` where there is none: then only ``differs(_:)`` and `exists(false)` hold.
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
  /// Whether two values are the same; most that are not are told apart without parsing them.
  fileprivate func isSame(as other: JSONText) -> Bool {
    if self == other { return true }
    if let order = order(to: other) { return order == .same }
    guard let first = text.utf8.first, first == other.text.utf8.first,
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    else { return false }
    return isEquivalent(to: other)
  }
}
