/// The time at which an event counts as durable, so that its command is answered.
package enum Durability: Equatable, Sendable {
  /// When the disk has it: each commit is synced before its answer.
  case always

  /// When the kernel has it; the disk has it after at most this number of milliseconds.
  case interval(milliseconds: UInt64)

  /// When the kernel has it; the kernel decides when to write it to the disk.
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

  /// The name without the interval, as the lock file of a journal records it.
  package var name: String {
    switch self {
    case .always: "always"
    case .interval: "interval"
    case .os: "os"
    }
  }

  /// The accepted forms, for error messages.
  package static let forms = "always, interval, interval=MS or os"
}
