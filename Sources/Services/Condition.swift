package import JSON

/// What must hold for a value, or for the data of an event that is wanted.
package struct Condition: Sendable {
  /// What is looked at; where nothing stands only ``differs(_:)`` and `exists(false)` hold.
  package enum Test: Sendable {
    /// Numbers by value, members in any order; never of another type.
    case equals(JSONText)

    /// What ``equals(_:)`` is not.
    case differs(JSONText)

    /// A number and a number, or a string and a string; see ``JSONText/order(to:)``.
    case isLess(JSONText)
    case isAtMost(JSONText)
    case isMore(JSONText)
    case isAtLeast(JSONText)

    case isOneOf([JSONText])
    case exists(Bool)

    /// A string that begins so.
    case begins(String)
  }

  private let place: JSONPointer
  private let test: Test

  package init(_ place: JSONPointer, _ test: Test) {
    self.place = place
    self.test = test
  }

  /// Whether it holds for some data; `nil` is where nothing is.
  package func holds(for data: JSONText?) -> Bool {
    let value = data.flatMap(place.find)
    return switch test {
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
  /// Whether two values are the same; what is not is mostly known without taking it apart.
  fileprivate func isSame(as other: JSONText) -> Bool {
    if self == other { return true }
    if let order = order(to: other) { return order == .same }
    guard let first = text.utf8.first, first == other.text.utf8.first,
      first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
    else { return false }
    return isEquivalent(to: other)
  }
}
