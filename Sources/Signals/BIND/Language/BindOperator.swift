/// Which way the values of a binding go, and which of them goes at binding time.
package enum BindOperator: String, CaseIterable, Sendable {
  /// The right end follows the left one.
  case leftToRight = "~>"
  /// The left end follows the right one.
  case rightToLeft = "<~"
  /// Each end follows the other; at binding time the right one takes the value of the left one.
  case both = "<>"
  /// The right end follows the left one from its next value on.
  case leftToRightLater = "!~>"
  /// The left end follows the right one from its next value on.
  case rightToLeftLater = "<~!"
  /// Each end follows the next value of the other.
  case bothLater = "<!>"

  /// Whether values go from left to right.
  package var goesRight: Bool {
    switch self {
    case .leftToRight, .leftToRightLater, .both, .bothLater: true
    case .rightToLeft, .rightToLeftLater: false
    }
  }

  /// Whether values go from right to left.
  package var goesLeft: Bool {
    switch self {
    case .rightToLeft, .rightToLeftLater, .both, .bothLater: true
    case .leftToRight, .leftToRightLater: false
    }
  }

  /// Whether values go both ways.
  package var goesBothWays: Bool { goesRight && goesLeft }

  /// Whether the value that is there at binding time is assigned: the one of the left end, if
  /// values go right, else the one of the right end.
  package var assignsAtOnce: Bool {
    switch self {
    case .leftToRight, .rightToLeft, .both: true
    case .leftToRightLater, .rightToLeftLater, .bothLater: false
    }
  }
}
