package import Wire

/// The local clock and time zone.
package struct LocalClock {
  /// The current time.
  package let now: Timestamp

  /// Converts a time to local time, expressed as if it were UTC.
  let shown: (Timestamp) -> Timestamp

  /// Converts a local time to the time it denotes; the inverse of ``shown``.
  let moment: (Timestamp) -> Timestamp

  package init(
    now: Timestamp, shown: @escaping (Timestamp) -> Timestamp,
    moment: @escaping (Timestamp) -> Timestamp
  ) {
    (self.now, self.shown, self.moment) = (now, shown, moment)
  }
}

/// A time or position as a user types it.
package enum When: Equatable {
  case seq(UInt64)
  case time(Timestamp)
  case start
  case now

  /// Parses a position (`81234`), `start`, `now`, or a time.
  ///
  /// Times are as in systemd.time(7): `-5m`, `5 min ago`, `08:30` (today), `yesterday`, `today
  /// 9:00`, `2026-11-20`, `2026-11-20T20:00` (local; with `Z` or `+01:00` of a zone), `@1795313984`
  /// (Unix).
  ///
  /// - Throws: ``UsageError`` that refers to the help topic `when`.
  package init(_ text: String, _ clock: LocalClock) throws(UsageError) {
    switch text {
    case "start": self = .start
    case "now": self = .now
    default:
      if let seq = UInt64(text) {
        self = .seq(seq)
      } else if let time = clock.time(text) {
        self = .time(time)
      } else if Duration.milliseconds(withUnits: text) != nil {
        throw UsageError("'\(text)' is not a time; did you mean '-\(text)'?", command: "when")
      } else {
        throw UsageError(
          "'\(text)' is not a time; for example: 81234 (a position), -5m, 08:30, yesterday",
          command: "when")
      }
    }
  }
}

extension LocalClock {
  private static let day: Int64 = 86_400_000_000

  fileprivate func time(_ text: String) -> Timestamp? {
    if text.hasPrefix("@") { return Self.unix(text.dropFirst()) }
    return ago(text) ?? Timestamp(text) ?? onDay(text)
      ?? (Timestamp(text + "Z") ?? Timestamp(text + "T00:00Z")).map(moment)
  }

  /// Parses `-5m`, `5m ago`, `1 day 2 hours ago`.
  private func ago(_ text: String) -> Timestamp? {
    let span: String
    if text.hasPrefix("-") {
      guard let ago = Duration.milliseconds(String(text.dropFirst())) else { return nil }
      return Timestamp(microseconds: now.microseconds - Int64(ago) * 1000)
    } else {
      let words = text.split(separator: " ")
      guard words.count > 1, words.last?.lowercased() == "ago" else { return nil }
      span = words.dropLast().joined().lowercased()
    }
    guard let ago = Duration.milliseconds(withUnits: span) else { return nil }
    return Timestamp(microseconds: now.microseconds - Int64(ago) * 1000)
  }

  /// Parses `08:30`, `today`, `yesterday 18:00`, `tomorrow`.
  private func onDay(_ text: String) -> Timestamp? {
    var words = text.split(separator: " ")[...]
    var days: Int64 = 0
    switch words.first?.lowercased() {
    case "today": words.removeFirst()
    case "yesterday":
      words.removeFirst()
      days = -1
    case "tomorrow":
      words.removeFirst()
      days = 1
    default: guard words.count == 1 else { return nil }
    }
    let today = shown(now)
    // A day of the local calendar, which may be longer or shorter than 24 hours.
    let date = Timestamp(microseconds: today.microseconds + days * Self.day).text.prefix(10)
    guard let time = words.popFirst() else { return Timestamp(date + "T00:00Z").map(moment) }
    guard words.isEmpty, time.contains(":") else { return nil }
    let hour = time.prefix { $0 != ":" }.count == 1 ? "0" + time : String(time)
    return Timestamp(date + "T" + hour + "Z").map(moment)
  }

  /// Parses seconds since 1970, with or without a fraction.
  private static func unix(_ text: Substring) -> Timestamp? {
    let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
    guard let seconds = UInt32(parts[0]), parts[0].allSatisfy(\.isNumber) else { return nil }
    var microseconds = Int64(seconds) * 1_000_000
    if parts.count == 2 {
      let digits = parts[1].prefix(6)
      guard !digits.isEmpty, parts[1].allSatisfy(\.isNumber), let value = Int64(digits) else {
        return nil
      }
      microseconds += (digits.count..<6).reduce(value) { value, _ in value * 10 }
    }
    return Timestamp(microseconds: microseconds)
  }
}

/// A duration as a user types it.
package enum Duration {
  /// Returns the milliseconds of `250ms`, `2s`, `5m`, `1h30m`, `7d` or a number of seconds.
  ///
  /// Numbers may have a fraction. Returns `nil` for anything else.
  package static func milliseconds(_ text: String) -> UInt64? {
    if let seconds = Double(text) { return whole(seconds * 1000) }
    return milliseconds(withUnits: text)
  }

  /// Returns the milliseconds of numbers with units; `nil` for a plain number.
  static func milliseconds(withUnits text: String) -> UInt64? {
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

  /// The units of systemd.time(7) with a fixed length; months and years are missing.
  private static let units: [String: Double] = {
    var units: [String: Double] = [:]
    for (names, size) in [
      ("ms msec", 1), ("s sec second seconds", 1000), ("m min minute minutes", 60_000),
      ("h hr hour hours", 3_600_000), ("d day days", 86_400_000),
      ("w week weeks", 604_800_000),
    ] as [(String, Double)] {
      for name in names.split(separator: " ") { units[String(name)] = size }
    }
    return units
  }()

  private static func whole(_ milliseconds: Double) -> UInt64? {
    // About a hundred years; the comparison also rejects NaN.
    guard milliseconds >= 0, milliseconds < 3.2e12 else { return nil }
    return UInt64(milliseconds.rounded())
  }
}
