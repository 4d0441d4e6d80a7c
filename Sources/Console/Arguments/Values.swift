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
