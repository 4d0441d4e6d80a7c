package import JSON

extension JSONText {
  /// A value as people type it: JSON if it is some, else a string.
  ///
  /// JSON with more members than the daemon takes stays JSON, so that the daemon refuses it.
  package init(typed text: String) {
    self =
      (try? JSONText(parsing: text, maxMembers: JSONLimits.anyMembers)) ?? JSONText(string: text)
  }
}

/// A span of time as people type it.
package enum Duration {
  /// Milliseconds of `250ms`, `2s`, `5m`, `1h30m`, `7d` or a plain number of seconds, which may
  /// have a fraction; `nil` for anything else.
  package static func milliseconds(_ text: String) -> UInt64? {
    if let seconds = Double(text) { return whole(seconds * 1000) }
    return milliseconds(withUnits: text)
  }

  /// Milliseconds of numbers with units, as ``milliseconds(_:)`` takes them; no plain number.
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

  /// The units of systemd.time(7) that are the same everywhere; months and years are not.
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
    // A hundred years; also refuses what is not a number.
    guard milliseconds >= 0, milliseconds < 3.2e12 else { return nil }
    return UInt64(milliseconds.rounded())
  }
}
