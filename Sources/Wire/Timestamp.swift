public import JSON

/// Writes times of the present, which mostly share their second.
public struct PresentTime {
  private var second = Int64.min

  /// The text of the second, without its fraction: `2026-01-02T03:04:05`.
  private var text = ""

  /// Creates a writer without a remembered second.
  public init() {}

  /// Appends the text of a time; see ``Timestamp/text``.
  public mutating func write(_ time: Timestamp, to buffer: inout ByteBuffer) {
    let second = time.microseconds.quotient(roundingDown: 1_000_000)
    if second != self.second {
      self.second = second
      text = String(Timestamp(microseconds: second * 1_000_000).text.prefix(19))
    }
    buffer.append(text)
    Timestamp.write(fraction: Int(time.microseconds - second * 1_000_000), to: &buffer)
  }
}

/// A point in time as the protocol writes it: `2026-01-02T03:04:05.678901Z`.
public struct Timestamp: Comparable, Hashable, Sendable {
  /// Microseconds since 1970-01-01T00:00:00Z.
  public let microseconds: Int64

  /// Creates a time from its microseconds.
  public init(microseconds: Int64) {
    self.microseconds = microseconds
  }

  /// Returns whether the left time is earlier.
  public static func < (left: Self, right: Self) -> Bool { left.microseconds < right.microseconds }

  /// Parses an RFC 3339 time in UTC (`Z`) or with an offset.
  ///
  /// Seconds and fraction are optional.
  public init?(_ text: String) {
    var reader = Reader(rest: Array(text.utf8)[...])
    guard let year = reader.number(4), reader.consume("-"), let month = reader.number(2),
      reader.consume("-"), let day = reader.number(2), reader.consume("T") || reader.consume(" "),
      let hour = reader.number(2), reader.consume(":"), let minute = reader.number(2)
    else { return nil }
    var second = 0
    if reader.consume(":") {
      guard let value = reader.number(2) else { return nil }
      second = value
    }
    let fraction = reader.consume(".") ? reader.fraction() : 0
    guard let fraction, let offset = reader.offset(), reader.rest.isEmpty,
      1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second < 61
    else { return nil }
    let days = Self.days(year, month, day)
    // Rejects days that the month does not have.
    guard Self.date(days) == (year, month, day) else { return nil }
    let seconds = ((days * 24 + hour) * 60 + minute - offset) * 60 + second
    // The offset may move the time to a year that has no four digits.
    guard Self.seconds ~= seconds else { return nil }
    microseconds = Int64(seconds) * 1_000_000 + Int64(fraction)
  }

  /// The seconds from 0000-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
  private static let seconds = -62_167_219_200...253_402_300_799

  /// The text in UTC with six fractional digits.
  public var text: String {
    var buffer = ByteBuffer()
    write(to: &buffer)
    return buffer.string
  }

  /// Appends ``text``.
  public func write(to buffer: inout ByteBuffer) {
    let second = microseconds.quotient(roundingDown: 1_000_000)
    let day = second.quotient(roundingDown: 86_400)
    let rest = Int(second - day * 86_400)
    let (year, month, date) = Self.date(Int(day))
    buffer.reserve(27)
    buffer.append(twoDigits: year / 100)
    buffer.append(twoDigits: year % 100)
    buffer.append(UInt8(ascii: "-"))
    buffer.append(twoDigits: month)
    buffer.append(UInt8(ascii: "-"))
    buffer.append(twoDigits: date)
    buffer.append(UInt8(ascii: "T"))
    buffer.append(twoDigits: rest / 3600)
    buffer.append(UInt8(ascii: ":"))
    buffer.append(twoDigits: rest / 60 % 60)
    buffer.append(UInt8(ascii: ":"))
    buffer.append(twoDigits: rest % 60)
    Self.write(fraction: Int(microseconds - second * 1_000_000), to: &buffer)
  }

  /// Appends a fraction of a second, and the zone.
  fileprivate static func write(fraction: Int, to buffer: inout ByteBuffer) {
    buffer.append(UInt8(ascii: "."))
    buffer.append(twoDigits: fraction / 10_000)
    buffer.append(twoDigits: fraction / 100 % 100)
    buffer.append(twoDigits: fraction % 100)
    buffer.append(UInt8(ascii: "Z"))
  }

  // Civil calendar in 400-year eras that begin on 1 March: Howard Hinnant, "chrono-Compatible
  // Low-Level Date Algorithms", <https://howardhinnant.github.io/date_algorithms.html>.

  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let era = Int(Int64(year).quotient(roundingDown: 400))
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let days = days + 719_468
    let era = Int(Int64(days).quotient(roundingDown: 146_097))
    let dayOfEra = days - era * 146_097
    let yearOfEra =
      (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
      dayOfYear - (153 * shifted + 2) / 5 + 1
    )
  }

  private struct Reader {
    var rest: ArraySlice<UInt8>

    mutating func consume(_ character: Unicode.Scalar) -> Bool {
      guard let first = rest.first, UInt32(first) == character.value else { return false }
      rest.removeFirst()
      return true
    }

    mutating func number(_ digits: Int) -> Int? {
      guard rest.count >= digits, rest.prefix(digits).allSatisfy({ 0x30...0x39 ~= $0 }) else {
        return nil
      }
      defer { rest.removeFirst(digits) }
      return rest.prefix(digits).reduce(0) { $0 * 10 + Int($1 & 15) }
    }

    /// Reads a fraction as microseconds.
    ///
    /// Drops digits after the sixth.
    mutating func fraction() -> Int? {
      let digits = rest.prefix { 0x30...0x39 ~= $0 }
      guard !digits.isEmpty else { return nil }
      rest.removeFirst(digits.count)
      return (0..<6).reduce(0) { value, i in
        value * 10 + (i < digits.count ? Int(digits[digits.startIndex + i] & 15) : 0)
      }
    }

    /// Reads an offset in minutes east of Greenwich, of less than a day.
    mutating func offset() -> Int? {
      if consume("Z") || consume("z") { return 0 }
      let sign = consume("+") ? 1 : consume("-") ? -1 : 0
      guard sign != 0, let hours = number(2), consume(":"), let minutes = number(2), hours < 24,
        minutes < 60
      else { return nil }
      return sign * (hours * 60 + minutes)
    }
  }
}

extension Shape.Format {
  /// Returns a string in the form in which strings of the format can be compared.
  ///
  /// A time becomes one in UTC with six digits of a second.
  ///
  /// - Returns: `nil` if the string is not of the format.
  public func normal(_ text: String) -> String? {
    let bytes = text.utf8.count
    switch self {
    case .secret: return text
    case .time: return Timestamp(text)?.text
    case .date: return bytes == 10 && Timestamp(text + "T00:00Z") != nil ? text : nil
    case .clock: return bytes == 5 && Timestamp("2000-01-01T\(text)Z") != nil ? text : nil
    }
  }

  /// The format with its article and an example, as used in errors.
  public var article: String {
    switch self {
    case .date: "a date such as 2026-12-31"
    case .time: "a time such as 2026-12-31T18:00:00Z"
    case .clock: "a time of day such as 18:00"
    case .secret: "a string"
    }
  }
}

extension Int64 {
  fileprivate func quotient(roundingDown divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
