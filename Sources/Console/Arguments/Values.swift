package import JSON
package import Wire

extension JSONText {
  /// A value as people type it: JSON if it is some, else a string.
  package init(typed text: String) {
    self = (try? JSONText(parsing: text)) ?? JSONText(string: text)
  }
}

/// A span of time as people type it.
package enum Duration {
  /// Milliseconds of `250ms`, `2s`, `5m`, `1h30m`, `7d` or a plain number of seconds, which may
  /// have a fraction; `nil` for anything else.
  package static func milliseconds(_ text: String) -> UInt64? {
    if let seconds = Double(text) { return whole(seconds * 1000) }
    var rest = text[...]
    var sum = 0.0
    while !rest.isEmpty {
      let digits = rest.prefix { $0.isNumber || $0 == "." }
      rest = rest.dropFirst(digits.count)
      let unit = rest.prefix { !$0.isNumber }
      rest = rest.dropFirst(unit.count)
      guard let number = Double(digits), let size = units[String(unit)] else { return nil }
      sum += number * size
    }
    return text.isEmpty ? nil : whole(sum)
  }

  private static let units = [
    "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000.0,
  ]

  private static func whole(_ milliseconds: Double) -> UInt64? {
    // A hundred years; also refuses what is not a number.
    guard milliseconds >= 0, milliseconds < 3.2e12 else { return nil }
    return UInt64(milliseconds.rounded())
  }
}

/// A moment as people type it.
package enum When: Equatable {
  case seq(UInt64)
  case time(Timestamp)
  case start
  case now

  /// `81234` (a seq), `-5m` (ago), `2026-11-20T20:00` (local; `Z` taken), `start` or `now`.
  ///
  /// - Parameters:
  ///   - now: From which is counted.
  ///   - local: The moment at which clocks here show what a UTC clock shows at another one.
  package init(
    _ text: String, now: Timestamp, local: (Timestamp) -> Timestamp
  ) throws(UsageError) {
    switch text {
    case "start": self = .start
    case "now": self = .now
    default:
      if let seq = UInt64(text) {
        self = .seq(seq)
      } else if text.hasPrefix("-"), let ago = Duration.milliseconds(String(text.dropFirst())) {
        self = .time(Timestamp(microseconds: now.microseconds - Int64(ago) * 1000))
      } else if let time = Timestamp(text) {
        self = .time(time)
      } else if let time = Timestamp(text + "Z") ?? Timestamp(text + "T00:00Z") {
        self = .time(local(time))
      } else {
        throw UsageError(
          "'\(text)' is no moment: 81234 (a seq), -5m (ago), 2026-11-20T20:00, start or now")
      }
    }
  }
}
