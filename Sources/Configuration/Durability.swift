/// When an answer leaves: how far the disk must be.
package enum Durability: Equatable, Sendable {
  /// The disk has it.
  case always

  /// The disk has it so much later.
  case interval(milliseconds: UInt64)

  /// The disk has it when the kernel pleases.
  case os

  /// `always`, `interval`, `interval=MS` or `os`; `nil` for anything else.
  package init?(_ text: String) {
    switch text {
    case "always": self = .always
    case "os": self = .os
    case "interval": self = .interval(milliseconds: 1000)
    default:
      guard text.hasPrefix("interval="), let milliseconds = UInt64(text.dropFirst(9)),
        1...3_600_000 ~= milliseconds, text == "interval=\(milliseconds)"
      else { return nil }
      self = .interval(milliseconds: milliseconds)
    }
  }

  /// As it is written.
  package var text: String {
    switch self {
    case .always: "always"
    case .os: "os"
    case .interval(let milliseconds): "interval=\(milliseconds)"
    }
  }

  /// What ``init(_:)`` takes, for people.
  package static let forms = "always, interval, interval=MS or os"
}
