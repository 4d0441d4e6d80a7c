package import Signals

/// The clock and the time zone of the machine.
package struct MachineTime {
  /// Returns microseconds since 1970.
  let now: () -> Int64

  /// Returns the seconds that local time is ahead of UTC at a time, in seconds since 1970.
  let offset: (_ seconds: Int64) -> Int64

  package init(
    now: @escaping () -> Int64, offset: @escaping (_ seconds: Int64) -> Int64 = { _ in 0 }
  ) {
    (self.now, self.offset) = (now, offset)
  }
}

/// The times at which `every` emits.
package enum Schedule: Equatable {
  /// The multiples of an interval in seconds, counted from 1970 in UTC.
  case interval(Int64)

  /// A time of the day in local time, in seconds since midnight.
  case daily(Int64)

  private static let day: Int64 = 86_400

  /// Reads the argument of `every`: a duration of whole seconds or a time of the day.
  package init(_ argument: BindArgument) throws(BindFault) {
    if let seconds = argument.seconds, 1...31_536_000 ~= seconds,
      let whole = Int64(exactly: seconds)
    {
      self = .interval(whole)
    } else if let text = argument.string, let seconds = Self.secondsOfDay(text) {
      self = .daily(seconds)
    } else {
      let expected = ["interval of whole seconds such as 5m", #"time such as "08:00""#]
      throw BindFault(
        misused: "'every' takes an \(expected.joined(separator: " or a ")), not \(argument)",
        argument, expected: expected)
    }
  }

  /// Returns the seconds since midnight of `08:00` or `08:00:30`.
  private static func secondsOfDay(_ text: String) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    let isValid = parts.allSatisfy { part in
      part.utf8.count == 2 && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard isValid, 2...3 ~= parts.count else { return nil }
    let numbers = parts.compactMap { Int64($0) }
    guard numbers[0] < 24, numbers.dropFirst().allSatisfy({ $0 < 60 }) else { return nil }
    return numbers[0] * 3600 + numbers[1] * 60 + (numbers.count > 2 ? numbers[2] : 0)
  }

  /// Returns the first time after another one, in seconds since 1970.
  ///
  /// A local time that the clock skips counts as if the clock had not been changed; it is then an
  /// hour later on the wall. A local time that occurs twice on a day counts once, the first time.
  ///
  /// - Parameter offset: Returns the seconds that local time is ahead of UTC.
  package func next(after seconds: Int64, offset: (Int64) -> Int64) -> Int64 {
    switch self {
    case .interval(let interval):
      let (quotient, remainder) = seconds.quotientAndRemainder(dividingBy: interval)
      return (quotient + (remainder < 0 ? 0 : 1)) * interval
    case .daily(let time):
      let local = seconds + offset(seconds)
      let midnight = local - (local % Self.day + Self.day) % Self.day
      // The day before, in case the clock was set back across midnight.
      for days in -1...2 {
        let found = Self.time(midnight + Int64(days) * Self.day + time, offset)
        if found > seconds { return found }
      }
      return seconds + Self.day
    }
  }

  /// Returns the time that a local time denotes; both in seconds since 1970.
  private static func time(_ local: Int64, _ offset: (Int64) -> Int64) -> Int64 {
    let (before, after) = (offset(local - day), offset(local + day))
    let candidates = [local - before, local - after].filter { $0 + offset($0) == local }
    return candidates.min() ?? local - before
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
  private var seen: Int64 = 0

  /// The last time of the schedule for which `body` was called, in seconds since 1970.
  private var reached: Int64?

  /// A clock that is set back by less than this, in seconds, does not repeat a daily time.
  private static let longestCorrection: Int64 = 3600

  /// - Parameter body: Receives the time of the schedule, in seconds since 1970.
  init(
    _ schedule: Schedule, _ time: MachineTime, on scheduler: any Scheduler,
    body: @escaping (_ seconds: Int64) -> Void
  ) {
    (self.schedule, self.time, self.scheduler, self.body) = (schedule, time, scheduler, body)
  }

  func start() {
    seen = time.now()
    plan(after: seen / 1_000_000)
  }

  func stop() {
    timer?.dispose()
    timer = nil
  }

  private func plan(after seconds: Int64) {
    due = schedule.next(after: seconds, offset: time.offset)
    wait()
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
  /// A daily time that was reached before a small correction of the clock does not count again.
  private func last(before now: Int64) -> Int64 {
    guard case .daily = schedule, let reached, reached - now < Self.longestCorrection else {
      return now
    }
    return max(now, reached)
  }
}
