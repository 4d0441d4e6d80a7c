package import Signals

/// The clock and the time zone of the machine.
package struct MachineTime {
  /// Returns microseconds since 1970.
  let now: () -> Int64

  /// Returns the seconds that local time is ahead of UTC at a time, in seconds since 1970.
  let offset: @Sendable (_ seconds: Int64) -> Int64

  /// Returns the same function of a time zone by its name, for example `Europe/Berlin`; `nil` if the
  /// machine does not have the zone.
  let zone: @Sendable (_ name: String) -> ((_ seconds: Int64) -> Int64)?

  /// The time of the last event before this start, in microseconds since 1970; `nil` if there is none.
  var stop: Int64?

  package init(
    now: @escaping () -> Int64,
    offset: @escaping @Sendable (_ seconds: Int64) -> Int64 = { _ in 0 },
    zone: @escaping @Sendable (_ name: String) -> ((_ seconds: Int64) -> Int64)? = { _ in nil }
  ) {
    (self.now, self.offset, self.zone) = (now, offset, zone)
  }
}

/// The times at which `every` emits.
package struct Schedule: Equatable {
  private enum Times: Equatable {
    /// The multiples of an interval in seconds, counted from 1970 in UTC.
    case interval(Int64)

    /// A time of some days, in seconds since midnight in local time.
    case daily(Int64, Days)
  }

  private let times: Times

  /// The time zone of the time; `nil` is the one of the machine.
  let zone: String?

  /// The argument that names the zone.
  private let argument: BindArgument

  /// Whether a time at which the daemon did not run is made up for when it starts.
  let catchesUp: Bool

  private static let day: Int64 = 86_400

  /// Reads the arguments of `every`: a duration of whole seconds or a time of some days, and
  /// `catch_up`.
  package init(_ argument: BindArgument, _ option: BindArgument? = nil) throws(BindFault) {
    if let option, option.word != "catch_up" {
      throw BindFault(
        misused: "the second argument of 'every' is catch_up, not \(option)", option,
        expected: ["catch_up"])
    }
    catchesUp = option != nil
    self.argument = argument
    if let seconds = argument.seconds, 1...31_536_000 ~= seconds,
      let whole = Int64(exactly: seconds)
    {
      (times, zone) = (.interval(whole), nil)
      return
    }
    let expected = [
      "interval of whole seconds such as 5m", #"time such as "08:00" or "mon-fri 08:00""#,
    ]
    let rule = "'every' takes an \(expected.joined(separator: " or a ")), not \(argument)"
    guard let text = argument.string else {
      throw BindFault(misused: rule, argument, expected: expected)
    }
    do throws(DayFault) {
      (times, zone) = try Self.daily(text)
    } catch {
      let reason = error.reason.map { ": \($0)" } ?? ""
      throw BindFault(misused: rule + reason, argument, expected: expected)
    }
  }

  /// Whether it has times of the day, which depend on the local time.
  var isDaily: Bool { if case .daily = times { true } else { false } }

  /// Throws an error if the machine does not have the time zone.
  func checkZone(in time: MachineTime) throws(BindFault) {
    guard let zone, time.zone(zone) == nil else { return }
    throw BindFault(
      misused:
        "no time zone '\(zone)' on this machine: a zone is named as in /usr/share/zoneinfo, which is of the package tzdata",
      argument, expected: ["name of a time zone such as Europe/Berlin"])
  }

  /// Reads `08:00`, `mon-fri 08:00` or `12-24 08:00`, with or without a time zone behind it.
  private static func daily(_ text: String) throws(DayFault) -> (Times, zone: String?) {
    var parts = text.split(separator: " ", omittingEmptySubsequences: false)
    var zone: String?
    // No day begins with a capital letter, and each zone does.
    if parts.count > 1, let last = parts.last, last.first.map({ "A"..."Z" ~= $0 }) == true {
      guard last.utf8.count <= 64, last.utf8.allSatisfy(isOfZone) else {
        throw DayFault("a time zone is named as in /usr/share/zoneinfo")
      }
      zone = String(last)
      parts.removeLast()
    }
    guard 1...2 ~= parts.count else { throw DayFault(nil) }
    let time = parts[parts.count - 1]
    guard let seconds = secondsOfDay(time) else {
      throw DayFault(parts.count == 2 ? "'\(time)' is no time from 00:00 to 23:59:59" : nil)
    }
    return (.daily(seconds, parts.count == 2 ? try Days(parts[0]) : .all), zone)
  }

  /// Whether a character can be part of the name of a time zone; no dot, so no path leads elsewhere.
  private static func isOfZone(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "_"),
      UInt8(ascii: "-"), UInt8(ascii: "+"):
      true
    default: false
    }
  }

  /// Returns the seconds since midnight of `08:00` or `08:00:30`.
  private static func secondsOfDay(_ text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard 2...3 ~= parts.count else { return nil }
    let numbers = parts.compactMap { twoDigits($0) }
    guard numbers.count == parts.count, numbers[0] < 24,
      numbers.dropFirst().allSatisfy({ $0 < 60 })
    else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
  }

  fileprivate static func twoDigits(_ text: Substring) -> Int64? {
    text.utf8.count == 2 ? digits(text) : nil
  }

  fileprivate static func digits(_ text: Substring) -> Int64? {
    text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
  }

  /// Returns the first time after another one, in seconds since 1970.
  ///
  /// A local time that the clock skips is the moment at which it skips. A local time that occurs twice
  /// on a day counts once, the first time.
  ///
  /// - Parameter offset: Returns the seconds that local time is ahead of UTC.
  /// - Returns: `nil` if the years of all days are over.
  package func next(after seconds: Int64, offset: (Int64) -> Int64) -> Int64? {
    switch times {
    case .interval(let interval):
      let (quotient, remainder) = seconds.quotientAndRemainder(dividingBy: interval)
      return (quotient + (remainder < 0 ? 0 : 1)) * interval
    case .daily(let time, let days):
      let local = seconds + offset(seconds)
      let today = (local - (local % Self.day + Self.day) % Self.day) / Self.day
      // The day before, in case the clock was set back across midnight.
      var day = today - 1
      while let next = days.next(from: day) {
        let found = Self.time(next * Self.day + time, offset)
        if found > seconds { return found }
        day = next + 1
      }
      return nil
    }
  }

  /// Returns the last time up to another one, in seconds since 1970; `nil` if there is none after a
  /// third one.
  func last(upTo seconds: Int64, after start: Int64, offset: (Int64) -> Int64) -> Int64? {
    guard seconds > start else { return nil }
    if case .interval(let interval) = times {
      let last = seconds - (seconds % interval + interval) % interval
      return last > start ? last : nil
    }
    guard case .daily(_, let days) = times else { return nil }
    // The days of a week are enough to look at, or else the years until 29 February is again.
    let span = days.areOfWeeks ? 9 * Self.day : Days.longestGap * Self.day
    var found: Int64?
    var time = next(after: max(start, seconds - span), offset: offset)
    while let next = time, next <= seconds {
      found = next
      time = self.next(after: next, offset: offset)
    }
    return found
  }

  /// Returns the time that a local time denotes; both in seconds since 1970.
  private static func time(_ local: Int64, _ offset: (Int64) -> Int64) -> Int64 {
    let (before, after) = (offset(local - day), offset(local + day))
    let candidates = [local - before, local - after].filter { $0 + offset($0) == local }
    if let first = candidates.min() { return first }
    // The clock skips it: finds the first second with another offset.
    var (low, high) = (local - max(before, after), local - min(before, after))
    while high - low > 1 {
      let middle = (low + high) / 2
      if offset(middle) == before { low = middle } else { high = middle }
    }
    return high
  }
}

/// The rule that the text of a time breaks; no reason if it is no time at all.
private struct DayFault: Error {
  let reason: String?

  init(_ reason: String?) { self.reason = reason }
}

/// The days on which a time of the day counts: all that one of its parts names.
private struct Days: Equatable {
  /// A day of a month, of each if ``month`` is `nil`, and of each year if ``year`` is.
  private struct Date: Equatable {
    let year: Int64?
    let month: Int64?
    let day: Int64
  }

  /// The days of the week, from Monday as bit 0.
  private var weekdays: UInt8 = 0
  private var dates: [Date] = []

  static let all = Days()

  /// The most days from one 29 February to the next, over a year such as 2100.
  static let longestGap: Int64 = 2922

  private static let names: [Substring] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  /// The number of days of each month; of February in a leap year.
  private static let lengths: [Int64] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

  private init() { weekdays = 0x7F }

  /// Reads `mon-fri`, `sat,sun`, `12-24`, `*-01,*-15` or `2026-12-24`.
  init(_ text: Substring) throws(DayFault) {
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      guard let last = part.last, last.isNumber else {
        weekdays |= try Self.weekdays(part)
        continue
      }
      dates.append(try Self.date(part))
    }
  }

  private static func weekdays(_ part: Substring) throws(DayFault) -> UInt8 {
    let ends = part.split(separator: "-", omittingEmptySubsequences: false)
      .map { Self.names.firstIndex(of: $0) }
    guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1] else {
      throw DayFault("'\(part)' is no day such as mon, mon-fri, 12-24, *-01 or 2026-12-24")
    }
    // fri-mon goes over Sunday.
    return (first...(last < first ? last + 7 : last)).reduce(0) { $0 | 1 << UInt8($1 % 7) }
  }

  private static func date(_ part: Substring) throws(DayFault) -> Date {
    var words = part.split(separator: "-", omittingEmptySubsequences: false)
    var year: Int64?
    if words.count == 3 {
      let word = words.removeFirst()
      guard word.utf8.count == 4, let number = Schedule.digits(word), 1970...9999 ~= number else {
        throw DayFault("'\(word)' is no year from 1970 to 9999")
      }
      year = number
    }
    guard words.count == 2, let day = Schedule.twoDigits(words[1]) else {
      throw DayFault("'\(part)' is no day such as mon, mon-fri, 12-24, *-01 or 2026-12-24")
    }
    guard 1...31 ~= day else { throw DayFault("'\(part)': no month has a day \(words[1])") }
    if words[0] == "*" { return Date(year: year, month: nil, day: day) }
    guard let month = Schedule.twoDigits(words[0]), 1...12 ~= month else {
      throw DayFault("'\(part)': '\(words[0])' is no month from 01 to 12, and not *")
    }
    let isLeapDay = month == 2 && day == 29
    guard day <= lengths[Int(month) - 1], !isLeapDay || year.map(CalendarDay.isLeap) != false else {
      throw DayFault("'\(part)': the month has no day \(words[1])")
    }
    return Date(year: year, month: month, day: day)
  }

  /// Whether a day of the week counts, so that there is one in each week.
  var areOfWeeks: Bool { weekdays != 0 }

  /// Returns the first day that counts, not before another one; both in days since 1970.
  func next(from day: Int64) -> Int64? {
    var found = dates.compactMap { Self.next($0, from: day) }.min()
    if areOfWeeks {
      // 1 January 1970 was a Thursday.
      let week = (day...day + 6).first { weekdays >> UInt8((($0 + 3) % 7 + 7) % 7) & 1 == 1 }
      found = [found, week].compactMap(\.self).min()
    }
    return found
  }

  /// Returns the first such day, not before another one; a month that has none is left out.
  private static func next(_ date: Date, from day: Int64) -> Int64? {
    let from = CalendarDay(day)
    var (year, month) = (from.year, from.month)
    if let wanted = date.year {
      guard wanted >= year else { return nil }
      if wanted > year { (year, month) = (wanted, 1) }
    }
    // 29 February may be eight years away.
    for _ in 0..<100 {
      if date.year.map({ $0 == year }) == false { return nil }
      let first = CalendarDay.first(ofMonth: month, year)
      let found = first + date.day - 1
      let isThere = CalendarDay(found).month == month
      if found >= day, isThere, date.month.map({ $0 == month }) != false { return found }
      (year, month) = month == 12 ? (year + 1, 1) : (year, month + 1)
    }
    return nil
  }
}

/// Calls a function at the times of a schedule.
final class ScheduleTimer {
  /// The longest wait in seconds: the timer then compares the clock, which may have been set or
  /// stopped meanwhile.
  private static let longest: Double = 60

  private let schedule: Schedule
  private let time: MachineTime
  private let scheduler: any Scheduler
  private let body: (_ seconds: Int64) -> Void
  private var timer: (any Disposable)?

  /// The next time of the schedule; `nil` if there is none, unless the clock is set back.
  private var due: Int64?

  /// The time zone as it was read last: a zone that is removed later goes on.
  private var zoneOffset: ((Int64) -> Int64)?
  private var seen: Int64 = 0

  /// The last time of the schedule for which `body` was called, in seconds since 1970.
  private var reached: Int64?

  /// A clock that is set back by at most this, in seconds, repeats no time.
  ///
  /// One that is set back by more had been wrong, and would keep the schedule from running for long.
  private static let longestCorrection: Int64 = 86_400

  /// - Parameter body: Receives the time of the schedule, in seconds since 1970.
  init(
    _ schedule: Schedule, _ time: MachineTime, on scheduler: any Scheduler,
    body: @escaping (_ seconds: Int64) -> Void
  ) {
    (self.schedule, self.time, self.scheduler, self.body) = (schedule, time, scheduler, body)
  }

  /// Starts the timer.
  ///
  /// - Parameter stop: The time in microseconds since 1970 at which the daemon has stopped; the last time
  ///   of the schedule since then is made up for, if the schedule says so. `nil` if it has not run before.
  func start(since stop: Int64?) {
    seen = time.now()
    let now = seen / 1_000_000
    // Its runs before the stop are not repeated, if the clock was set back meanwhile.
    if let stop { reached = stop / 1_000_000 }
    if let stop, schedule.catchesUp,
      let missed = schedule.last(upTo: now, after: stop / 1_000_000, offset: offset())
    {
      due = missed
      return wait()
    }
    plan(after: last(before: now))
  }

  func stop() {
    timer?.dispose()
    timer = nil
  }

  private func plan(after seconds: Int64) {
    due = schedule.next(after: seconds, offset: offset())
    wait()
  }

  /// Returns the time zone of the schedule; it may have changed since the last time.
  private func offset() -> (Int64) -> Int64 {
    guard let zone = schedule.zone else { return time.offset }
    zoneOffset = time.zone(zone) ?? zoneOffset
    return zoneOffset ?? time.offset
  }

  private func wait() {
    let left = due.map { Double($0 * 1_000_000 - time.now()) / 1_000_000 } ?? Self.longest
    timer = scheduler.schedule(after: min(max(left, 0.001), Self.longest)) { [weak self] in
      self?.check()
    }
  }

  private func check() {
    let now = time.now()
    defer { seen = now }
    // The clock was set back: the next time may be earlier than planned.
    if now < seen { return plan(after: last(before: now / 1_000_000)) }
    guard let due, now >= due * 1_000_000 else { return wait() }
    reached = due
    plan(after: now / 1_000_000)
    body(due)
  }

  /// Returns the time after which the next one is planned once the clock was set back.
  ///
  /// A time that was reached does not count again; see ``longestCorrection``.
  private func last(before now: Int64) -> Int64 {
    guard let reached, reached - now <= Self.longestCorrection else { return now }
    return max(now, reached)
  }
}
