internal import Wire

/// Parses the date formats of feeds.
///
/// The forms of RFC 822, RFC 850, RFC 3339, ISO 8601, asctime(3), date(1) and JavaScript. A text
/// without a time of the day, or with a part that is not understood, is no date: a wrong time is
/// worse than none. A time without a zone is in UTC.
enum FeedDate {
  /// Returns a date as RFC 3339 text in UTC; `nil` if the text is not a date.
  static func parse(_ text: String) -> String? {
    guard let line = text.asLine else { return nil }
    if let time = Timestamp(line) { return time.text }
    var date = FeedDate.Parts()
    for word in words(of: line.lowercased()) {
      guard date.add(word) else { return nil }
    }
    return date.text.flatMap { Timestamp($0)?.text }
  }

  /// Returns the words of a date, without comments in parentheses.
  private static func words(of line: String) -> [Substring] {
    let isoDateLength = 10
    var line = line
    if let comment = line.firstIndex(of: "("), line.hasSuffix(")") {
      line.removeSubrange(comment...)
    }
    // An ISO date and its time are one word.
    if line.utf8.count > isoDateLength {
      let mark = line.utf8.index(line.startIndex, offsetBy: isoDateLength)
      let date = line[..<mark]
      if line[mark...].first == "t", date.utf8.allSatisfy({ $0 < 0x3A }) {
        line.replaceSubrange(mark...mark, with: " ")
      }
    }
    // A comma also separates the fraction of a second.
    return line.split(separator: " ").flatMap { word in
      word.contains(":") && !word.hasSuffix(",") ? [word] : word.split(separator: ",")
    }
  }

  fileprivate static let months = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
  ]
  fileprivate static let weekdays = [
    "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
  ]

  /// Hours from UTC by zone name, without the military letters that later RFCs withdrew, and without
  /// names of several zones.
  fileprivate static let zones = [
    "gmt": 0, "ut": 0, "utc": 0, "z": 0, "est": -5, "edt": -4, "cst": -6, "cdt": -5, "mst": -7,
    "mdt": -6, "pst": -8, "pdt": -7, "wet": 0, "west": 1, "cet": 1, "cest": 2, "eet": 2, "eest": 3,
    "msk": 3, "jst": 9, "aest": 10, "aedt": 11, "nzst": 12, "nzdt": 13,
  ]

  fileprivate static func digits(_ number: Int, _ count: Int = 2) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.utf8.count)) + text
  }
}

extension FeedDate {
  /// The parts of a date that were read; each occurs once.
  fileprivate struct Parts {
    private var year: Int?
    private var month: Int?
    private var day: Int?

    /// The time of the day as RFC 3339 writes it, without a zone.
    private var time: (hour: Int, rest: String)?
    private var isAfternoon: Bool?

    /// The offset from UTC, such as `+01:00`.
    private var offset: String?

    /// Whether the offset is that of `GMT` or `UTC`, which a number may follow: `GMT+0100`.
    private var isNamedUTC = false
    private var hasWeekday = false

    /// The date in the form of RFC 3339; `nil` if a part is missing.
    var text: String? {
      guard var year, let month, let day, let time else { return nil }
      var hour = time.hour
      if year < 100 { year += year < 50 ? 2000 : 1900 }
      if let isAfternoon {
        guard 1...12 ~= hour else { return nil }
        hour = hour % 12 + (isAfternoon ? 12 : 0)
      }
      let date = "\(digits(year, 4))-\(digits(month))-\(digits(day))"
      return "\(date)T\(digits(hour)):\(time.rest)\(offset ?? "Z")"
    }

    /// Adds a word in lower case; returns false if it has no place in a date.
    mutating func add(_ word: Substring) -> Bool {
      if word.contains(":"), !"+-".contains(word.prefix(1)) { return addTime(word) }
      if let number = Self.number(word) { return addNumber(number, ofDigits: word.utf8.count) }
      if word == "am" || word == "pm" { return addHalf(word) }
      let name = word.hasSuffix(".") ? word.dropLast() : word
      if name.utf8.count >= 3, let index = months.firstIndex(where: { $0.hasPrefix(name) }) {
        defer { month = index + 1 }
        return month == nil
      }
      if name.utf8.count >= 3, !hasWeekday, weekdays.contains(where: { $0.hasPrefix(name) }) {
        hasWeekday = true
        return true
      }
      return addZone(word) || addDate(word)
    }

    /// Adds a day or a year: the first number of one or two digits is the day.
    private mutating func addNumber(_ number: Int, ofDigits count: Int) -> Bool {
      if count <= 2, day == nil {
        day = number
        return true
      }
      guard count == 2 || count == 4, year == nil else { return false }
      year = number
      return true
    }

    /// Adds `2023-01-07`, `2023/01/07` or `07-jan-23`.
    private mutating func addDate(_ word: Substring) -> Bool {
      let parts = word.split(omittingEmptySubsequences: false) { $0 == "-" || $0 == "/" }
      guard parts.count == 3, year == nil, month == nil, day == nil else { return false }
      if parts[0].utf8.count == 4, parts[1].utf8.count == 2, parts[2].utf8.count == 2 {
        (year, month, day) = (Self.number(parts[0]), Self.number(parts[1]), Self.number(parts[2]))
      } else if parts[1].utf8.count >= 3, parts[2].utf8.count == 2 || parts[2].utf8.count == 4 {
        (year, day) = (Self.number(parts[2]), Self.number(parts[0]))
        month = months.firstIndex { $0.hasPrefix(parts[1]) }.map { $0 + 1 }
      }
      return year != nil && month != nil && day != nil
    }

    /// Adds `21:44`, `21:44:32` or `21:44:32.123`, which a zone or `am` may follow without a space.
    private mutating func addTime(_ word: Substring) -> Bool {
      guard time == nil else { return false }
      let clock = word.prefix { "0123456789:.,".contains($0) }
      let zone = word[clock.endIndex...]
      let halves = clock.split(maxSplits: 1, omittingEmptySubsequences: false) {
        $0 == "." || $0 == ","
      }
      let parts = halves[0].split(separator: ":", omittingEmptySubsequences: false)
      guard 2...3 ~= parts.count, parts[0].utf8.count <= 2, let hour = Self.number(parts[0]),
        parts.dropFirst().allSatisfy({ $0.utf8.count == 2 })
      else { return false }
      var rest = parts.dropFirst().joined(separator: ":")
      if halves.count == 2 {
        guard parts.count == 3, !halves[1].isEmpty, halves[1].utf8.allSatisfy(Self.isDigit) else {
          return false
        }
        rest += "." + halves[1]
      }
      time = (hour, rest)
      if zone == "am" || zone == "pm" { return addHalf(zone) }
      return zone.isEmpty || addZone(zone)
    }

    private mutating func addHalf(_ word: Substring) -> Bool {
      defer { isAfternoon = word == "pm" }
      return isAfternoon == nil && time != nil
    }

    /// Adds `est`, `+0100`, `+01:00`, `+01` or `gmt+0100`.
    private mutating func addZone(_ word: Substring) -> Bool {
      let name = word.prefix { $0 != "+" && $0 != "-" }
      if !name.isEmpty {
        guard offset == nil, let hours = zones[String(name)] else { return false }
        offset = (hours < 0 ? "-" : "+") + digits(abs(hours)) + ":00"
        isNamedUTC = ["gmt", "utc", "ut"].contains(name)
      }
      let number = word[name.endIndex...]
      guard let sign = number.first else { return !name.isEmpty }
      guard offset == nil || isNamedUTC else { return false }
      let written = number.dropFirst()
      let parts = written.split(separator: ":", omittingEmptySubsequences: false)
      let all = parts.joined()
      guard all.utf8.allSatisfy(Self.isDigit),
        parts.count == 1 && (all.utf8.count == 4 || all.utf8.count == 2)
          || parts.count == 2 && parts.allSatisfy({ $0.utf8.count == 2 })
      else { return false }
      offset = "\(sign)\(all.prefix(2)):\(all.utf8.count == 4 ? all.suffix(2) : "00")"
      isNamedUTC = false
      return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

    private static func number(_ text: Substring) -> Int? {
      text.utf8.allSatisfy(isDigit) ? Int(text) : nil
    }
  }
}
