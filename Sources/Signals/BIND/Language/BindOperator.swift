/// The direction of a binding, and whether it assigns a value at its start.
public enum BindOperator: String, CaseIterable, Sendable {
  /// The right end follows the left one.
  case leftToRight = "~>"
  /// The left end follows the right one.
  case rightToLeft = "<~"
  /// Each end follows the other.
  ///
  /// At the start, the right one takes the value of the left one.
  case both = "<>"
  /// The right end follows the left one from its next value on.
  case leftToRightLater = "!~>"
  /// The left end follows the right one from its next value on.
  case rightToLeftLater = "<~!"
  /// Each end follows the other from its next value on.
  case bothLater = "<!>"

  /// Whether values go from left to right.
  public var goesRight: Bool {
    switch self {
    case .leftToRight, .leftToRightLater, .both, .bothLater: true
    case .rightToLeft, .rightToLeftLater: false
    }
  }

  /// Whether values go from right to left.
  public var goesLeft: Bool {
    switch self {
    case .rightToLeft, .rightToLeftLater, .both, .bothLater: true
    case .leftToRight, .leftToRightLater: false
    }
  }

  /// Whether values go both ways.
  public var goesBothWays: Bool { goesRight && goesLeft }

  /// Whether the current value is assigned at the start: the value of the left end if values go
  /// right, else the value of the right end.
  public var assignsAtOnce: Bool {
    switch self {
    case .leftToRight, .rightToLeft, .both: true
    case .leftToRightLater, .rightToLeftLater, .bothLater: false
    }
  }
}
