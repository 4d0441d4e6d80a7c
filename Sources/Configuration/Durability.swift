/// The state of the disk write at which a command is answered.
package enum Durability: Equatable, Sendable {
  /// Each commit is synced to disk before its answer.
  case always

  /// Commits are synced to disk at this interval.
  case interval(milliseconds: UInt64)

  /// The operating system decides when to write to disk.
  case os

  /// Parses `always`, `interval`, `interval=MS` or `os`; `nil` for other text.
  ///
  /// `interval` alone means 1000 ms.
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

  /// The form accepted by ``init(_:)``.
  package var text: String {
    switch self {
    case .always: "always"
    case .os: "os"
    case .interval(let milliseconds): "interval=\(milliseconds)"
    }
  }

  /// The accepted forms, for error messages.
  package static let forms = "always, interval, interval=MS or os"
}
