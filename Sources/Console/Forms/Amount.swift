/// Numbers for people: bytes, rates and times with units.
package enum Amount {
  private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]

  /// Returns a number of bytes with a unit: `512 B`, `1.2 KiB`, `25 MiB`.
  package static func bytes(_ bytes: Double) -> String {
    guard bytes.isFinite else { return "–" }
    var (value, unit) = (bytes, 0)
    // 1023.6 would be shown as 1024.
    while value.magnitude >= 1023.5, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return (unit == 0 ? whole(value) : short(value)) + " " + units[unit]
  }

  /// Returns a number with one decimal below 10, otherwise without: `0.4`, `12`, `12,345`.
  package static func number(_ value: Double) -> String {
    guard value.isFinite else { return "–" }
    return short(value)
  }

  /// Returns a time in its two largest units: `5s`, `3m 10s`, `2h 5m`, `4d 3h`.
  package static func time(seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e12 else { return "–" }
    let seconds = Int(max(0, seconds))
    let parts = [
      (seconds / 86_400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "m"),
      (seconds % 60, "s"),
    ]
    let first = parts.firstIndex { $0.0 > 0 } ?? 3
    return parts[first...].prefix(2).filter { $0.0 > 0 || $0.1 == parts[first].1 }
      .map { "\($0.0)\($0.1)" }.joined(separator: " ")
  }

  private static func short(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    guard tenths.magnitude < 100, tenths != (tenths / 10).rounded() * 10 else {
      return whole(value)
    }
    let sign = tenths < 0 ? "-" : ""
    let number = Int(tenths.magnitude)
    return "\(sign)\(number / 10).\(number % 10)"
  }

  /// Returns a whole number with commas between thousands.
  private static func whole(_ value: Double) -> String {
    guard value.magnitude < 1e15 else { return "\(value)" }
    let rounded = Int64(value.rounded())
    var text = ""
    for (i, digit) in String(rounded.magnitude).reversed().enumerated() {
      if i > 0, i % 3 == 0 { text = "," + text }
      text = String(digit) + text
    }
    return (rounded < 0 ? "-" : "") + text
  }
}
