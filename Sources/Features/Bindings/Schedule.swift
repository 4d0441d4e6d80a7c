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
    } else if let text = argument.string, let daily = Self.daily(text) {
      (times, zone) = daily
    } else {
      let expected = [
        "interval of whole seconds such as 5m", #"time such as "08:00" or "mon-fri 08:00""#,
      ]
      throw BindFault(
        misused: "'every' takes an \(expected.joined(separator: " or a ")), not \(argument)",
        argument, expected: expected)
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
  private static func daily(_ text: String) -> (Times, zone: String?)? {
    var parts = text.split(separator: " ", omittingEmptySubsequences: false)
    var zone: String?
    // No day begins with a capital letter, and each zone does.
    if parts.count > 1, let last = parts.last, last.first.map({ "A"..."Z" ~= $0 }) == true {
      guard last.utf8.count <= 64, last.utf8.allSatisfy(isOfZone) else { return nil }
      zone = String(last)
      parts.removeLast()
    }
    guard 1...2 ~= parts.count, let seconds = secondsOfDay(parts[parts.count - 1]) else {
      return nil
    }
    guard parts.count == 2 else { return (.daily(seconds, .all), zone) }
    return Days(parts[0]).map { (.daily(seconds, $0), zone) }
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
    guard text.utf8.count == 2, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    return Int64(text)
  }

  /// Returns the first time after another one, in seconds since 1970.
  ///
  /// A local time that the clock skips is the moment at which it skips. A local time that occurs twice
  /// on a day counts once, the first time.
  ///
  /// - Parameter offset: Returns the seconds that local time is ahead of UTC.
  package func next(after seconds: Int64, offset: (Int64) -> Int64) -> Int64 {
    switch times {
    case .interval(let interval):
      let (quotient, remainder) = seconds.quotientAndRemainder(dividingBy: interval)
      return (quotient + (remainder < 0 ? 0 : 1)) * interval
    case .daily(let time, let days):
      let local = seconds + offset(seconds)
      let midnight = local - (local % Self.day + Self.day) % Self.day
      // The day before, in case the clock was set back across midnight; 29 February may be 8 years
      // away.
      for day in -1...2930 where days.contain(midnight / Self.day + Int64(day)) {
        let found = Self.time(midnight + Int64(day) * Self.day + time, offset)
        if found > seconds { return found }
      }
      return seconds + 2930 * Self.day
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
    // The days of one year are enough to look at.
    var found: Int64?
    var time = next(after: max(start, seconds - 366 * Self.day), offset: offset)
    while time <= seconds {
      found = time
      time = next(after: time, offset: offset)
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

/// The days on which a time of the day counts.
private enum Days: Equatable {
  case all

  /// Days of the week, from Monday as bit 0.
  case weekdays(UInt8)

  /// A day of each month; `nil` for each month.
  case date(month: Int64?, day: Int64)

  private static let names: [Substring] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

  /// Reads `mon-fri`, `sat,sun`, `12-24` or `*-01`.
  init?(_ text: Substring) {
    if let dash = text.firstIndex(of: "-"), let day = Schedule.twoDigits(text[dash...].dropFirst()),
      1...31 ~= day
    {
      let month = Schedule.twoDigits(text[..<dash])
      guard month.map({ 1...12 ~= $0 && day <= Self.longest($0) }) ?? (text[..<dash] == "*") else {
        return nil
      }
      self = .date(month: month, day: day)
      return
    }
    var bits: UInt8 = 0
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let ends = part.split(separator: "-", omittingEmptySubsequences: false)
        .map { Self.names.firstIndex(of: $0) }
      guard 1...2 ~= ends.count, let first = ends[0], let last = ends[ends.count - 1] else {
        return nil
      }
      // fri-mon goes over Sunday.
      for i in first...(last < first ? last + 7 : last) { bits |= 1 << UInt8(i % 7) }
    }
    self = .weekdays(bits)
  }

  /// The most days of a month.
  private static func longest(_ month: Int64) -> Int64 {
    [4, 6, 9, 11].contains(month) ? 30 : month == 2 ? 29 : 31
  }

  /// Whether a day counts, given in days since 1970.
  func contain(_ day: Int64) -> Bool {
    switch self {
    case .all: return true
    // 1 January 1970 was a Thursday.
    case .weekdays(let bits): return bits >> UInt8(((day + 3) % 7 + 7) % 7) & 1 == 1
    case .date(let month, let wanted):
      let date = CalendarDay(day)
      return date.day == wanted && (month ?? date.month) == date.month
    }
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
  private var due: Int64 = 0

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
    let left = Double(due * 1_000_000 - time.now()) / 1_000_000
    timer = scheduler.schedule(after: min(max(left, 0.001), Self.longest)) { [weak self] in
      self?.check()
    }
  }

  private func check() {
    let now = time.now()
    defer { seen = now }
    // The clock was set back: the next time may be earlier than planned.
    if now < seen { return plan(after: last(before: now / 1_000_000)) }
    guard now >= due * 1_000_000 else { return wait() }
    let time = due
    reached = time
    plan(after: now / 1_000_000)
    body(time)
  }

  /// Returns the time after which the next one is planned once the clock was set back.
  ///
  /// A time that was reached does not count again; see ``longestCorrection``.
  private func last(before now: Int64) -> Int64 {
    guard let reached, reached - now <= Self.longestCorrection else { return now }
    return max(now, reached)
  }
}
