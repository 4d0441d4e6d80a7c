/// Parsers for numbers with a unit, such as `30d` or `64M`.
enum Unit {
  /// Parses a duration such as `30d` and returns seconds; `nil` for other text.
  static func seconds(_ text: String) -> UInt64? {
    scaled(
      text, ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800],
      upTo: UInt64(Int64.max) / 1_000_000)
  }

  /// Parses a size such as `64M` and returns bytes; `nil` for other text.
  static func bytes(_ text: String) -> UInt64? {
    scaled(
      text, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40], upTo: UInt64(Int64.max))
  }

  private static func scaled(
    _ text: String, _ units: [Character: UInt64], upTo max: UInt64
  ) -> UInt64? {
    guard let unit = text.last.flatMap({ units[$0] }),
      text.dropLast().utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
      let number = UInt64(text.dropLast()), number > 0
    else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow || value > max ? nil : value
  }
}
