/// The offsets of a time zone, from a file of the time zone database (TZif, RFC 9636).
package struct ZoneRules {
  /// The times in seconds since 1970 at which the offset changes, in order, and the offset from then on.
  private var changes: [(time: Int64, offset: Int64)] = []

  /// The offset before the first change.
  private var first: Int64 = 0

  /// The rule after the last change; `nil` if nothing changes any more.
  private var rule: YearlyRule?

  /// Reads a file; `nil` if it is damaged or has no 64-bit times (version 1, from before 2005).
  package init?(_ bytes: [UInt8]) {
    var reader = ZoneReader(bytes)
    guard let old = reader.header(), old.version >= UInt8(ascii: "2"),
      reader.skip(old.bytes(ofTimes: 4)), let header = reader.header(), header.types > 0
    else { return nil }
    let (times, types) = (header.times, header.types)
    guard let starts = reader.numbers(times, bytes: 8),
      let kinds = reader.numbers(times, bytes: 1)
    else { return nil }
    var offsets: [Int64] = []
    for _ in 0..<types {
      guard let offset = reader.numbers(1, bytes: 4)?.first, reader.skip(2) else { return nil }
      offsets.append(offset)
    }
    guard offsets.allSatisfy({ abs($0) < 100_000 }), kinds.allSatisfy({ 0..<Int64(types) ~= $0 }),
      zip(starts, starts.dropFirst()).allSatisfy({ $0 < $1 }),
      reader.skip(header.rest), let footer = reader.footer()
    else { return nil }
    first = offsets[0]
    changes = zip(starts, kinds).map { ($0, offsets[Int($1)]) }
    guard !footer.isEmpty else { return }
    guard let rule = YearlyRule(footer) else { return nil }
    self.rule = rule
  }

  /// Returns the seconds that local time is ahead of UTC at a time, in seconds since 1970.
  package func offset(at seconds: Int64) -> Int64 {
    guard let last = changes.last, seconds < last.time else {
      return rule?.offset(at: seconds) ?? changes.last?.offset ?? first
    }
    var (low, high) = (0, changes.count)
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].time <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? first : changes[low - 1].offset
  }
}

/// Reads the parts of a file of a time zone; each function returns `nil` if the file ends before.
private struct ZoneReader {
  struct Header {
    let version: UInt8
    let leaps: Int
    let times: Int
    let types: Int
    let characters: Int

    /// The bytes of the marks behind the leap seconds.
    let marks: Int

    /// The bytes of the block after the header.
    func bytes(ofTimes size: Int) -> Int {
      times * (size + 1) + types * 6 + characters + leaps * (size + 4) + marks
    }

    /// The bytes behind the types, in a block with 64-bit times.
    var rest: Int { characters + leaps * 12 + marks }
  }

  private var bytes: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

  mutating func header() -> Header? {
    guard bytes.count >= 44, bytes.prefix(4).elementsEqual("TZif".utf8) else { return nil }
    let version = bytes[bytes.startIndex + 4]
    bytes = bytes.dropFirst(20)
    guard let counts = numbers(6, bytes: 4), counts.allSatisfy({ 0...100_000 ~= $0 }) else {
      return nil
    }
    return Header(
      version: version, leaps: Int(counts[2]), times: Int(counts[3]), types: Int(counts[4]),
      characters: Int(counts[5]), marks: Int(counts[0] + counts[1]))
  }

  mutating func skip(_ count: Int) -> Bool {
    guard bytes.count >= count else { return false }
    bytes = bytes.dropFirst(count)
    return true
  }

  /// Reads signed numbers, the highest byte first; a number of one byte has no sign.
  mutating func numbers(_ count: Int, bytes size: Int) -> [Int64]? {
    guard bytes.count >= count * size else { return nil }
    defer { bytes = bytes.dropFirst(count * size) }
    return (0..<count).map { i in
      let start = bytes.startIndex + i * size
      let first = bytes[start]
      let high = size == 1 ? Int64(first) : Int64(Int8(bitPattern: first))
      return bytes[(start + 1)..<(start + size)].reduce(high) { $0 << 8 | Int64($1) }
    }
  }

  /// Reads the rule between two line feeds at the end.
  mutating func footer() -> String? {
    guard bytes.first == 10, let end = bytes.dropFirst().firstIndex(of: 10) else { return nil }
    return String(validating: bytes[(bytes.startIndex + 1)..<end], as: UTF8.self)
  }
}

/// The offsets of each year, as POSIX writes them in `TZ`, for example `CET-1CEST,M3.5.0,M10.5.0/3`.
private struct YearlyRule {
  /// A day of a year, and the seconds after its midnight.
  private struct Moment {
    enum Day {
      /// The day from 1 to 365, which does not count 29 February.
      case withoutLeapDay(Int64)

      /// The day from 0.
      case day(Int64)

      /// A day of a week of a month; 5 is the last week, and 0 is Sunday.
      case week(month: Int64, week: Int64, day: Int64)
    }

    let day: Day
    let seconds: Int64

    /// Returns the seconds since 1970, in local time.
    func time(in year: Int64) -> Int64 {
      let begin = CalendarDay.first(ofMonth: 1, year)
      let found: Int64
      switch day {
      case .withoutLeapDay(let day):
        found = begin + day - (day >= 60 && CalendarDay.isLeap(year) ? 0 : 1)
      case .day(let day): found = begin + day
      case .week(let month, let week, let day):
        let first = CalendarDay.first(ofMonth: month, year)
        let next =
          month == 12
          ? CalendarDay.first(ofMonth: 1, year + 1) : CalendarDay.first(ofMonth: month + 1, year)
        // 1 January 1970 was a Thursday.
        let weekday = ((first + 4) % 7 + 7) % 7
        let candidate = first + (day - weekday + 7) % 7 + (week - 1) * 7
        found = candidate < next ? candidate : candidate - 7
      }
      return found * 86_400 + seconds
    }
  }

  private let standard: Int64

  /// Summer time; `nil` if there is none.
  private var summer: (offset: Int64, start: Moment, end: Moment)?

  init?(_ text: String) {
    var rest = text[...]
    guard Self.skipName(&rest), let west = Self.time(&rest) else { return nil }
    standard = -west
    guard !rest.isEmpty else { return }
    guard Self.skipName(&rest) else { return nil }
    var offset = standard + 3600
    if rest.first != "," {
      guard let west = Self.time(&rest) else { return nil }
      offset = -west
    }
    guard let start = Self.moment(&rest), let end = Self.moment(&rest), rest.isEmpty else {
      return nil
    }
    summer = (offset, start, end)
  }

  func offset(at seconds: Int64) -> Int64 {
    guard let summer else { return standard }
    let local = seconds + standard
    let days = (local - (local % 86_400 + 86_400) % 86_400) / 86_400
    let year = CalendarDay(days).year
    let start = summer.start.time(in: year) - standard
    let end = summer.end.time(in: year) - summer.offset
    // South of the equator summer goes over the end of the year.
    let isSummer =
      start < end ? start <= seconds && seconds < end : !(end <= seconds && seconds < start)
    return isSummer ? summer.offset : standard
  }

  /// Skips `CET` or `<+03>`.
  private static func skipName(_ text: inout Substring) -> Bool {
    if text.first == "<" {
      guard let end = text.firstIndex(of: ">") else { return false }
      text = text[end...].dropFirst()
      return true
    }
    let name = text.prefix { $0.isASCII && $0.isLetter }
    text = text.dropFirst(name.count)
    return name.count >= 3
  }

  private static func number(_ text: inout Substring, _ range: ClosedRange<Int64>) -> Int64? {
    let digits = text.prefix { "0"..."9" ~= $0 }
    guard 1...3 ~= digits.count, let number = Int64(digits), range ~= number else { return nil }
    text = text.dropFirst(digits.count)
    return number
  }

  /// Reads `2`, `-1:30` or `02:00:00`, in seconds.
  private static func time(_ text: inout Substring) -> Int64? {
    let isNegative = text.first == "-"
    if isNegative || text.first == "+" { text = text.dropFirst() }
    guard var seconds = number(&text, 0...167).map({ $0 * 3600 }) else { return nil }
    for unit: Int64 in [60, 1] where text.first == ":" {
      text = text.dropFirst()
      guard let part = number(&text, 0...59) else { return nil }
      seconds += part * unit
    }
    return isNegative ? -seconds : seconds
  }

  /// Reads `,M3.5.0/2`, `,J60` or `,59`.
  private static func moment(_ text: inout Substring) -> Moment? {
    guard skip(",", &text) else { return nil }
    let day: Moment.Day
    if skip("M", &text) {
      guard let month = number(&text, 1...12), skip(".", &text), let week = number(&text, 1...5),
        skip(".", &text), let weekday = number(&text, 0...6)
      else { return nil }
      day = .week(month: month, week: week, day: weekday)
    } else if skip("J", &text) {
      guard let number = number(&text, 1...365) else { return nil }
      day = .withoutLeapDay(number)
    } else {
      guard let number = number(&text, 0...365) else { return nil }
      day = .day(number)
    }
    guard skip("/", &text) else { return Moment(day: day, seconds: 7200) }
    return time(&text).map { Moment(day: day, seconds: $0) }
  }

  private static func skip(_ character: Character, _ text: inout Substring) -> Bool {
    guard text.first == character else { return false }
    text = text.dropFirst()
    return true
  }
}
