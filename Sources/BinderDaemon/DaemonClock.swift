import API
import EventLoop
import Signals

/// The clock of the events and of the bindings: that of the machine, or one that was set and runs
/// faster, in a private daemon.
final class DaemonClock: Sendable {
  /// The clock as it was set; `nil` for that of the machine.
  struct Setting: Equatable, Sendable {
    /// The time at the start in microseconds since 1970; `nil` for the present.
    var start: Int64?

    /// The seconds that pass in one second.
    var speed = 1.0
  }

  /// The time at which the clock was set last, by itself and by the monotonic clock.
  private struct Course {
    var start: Int64
    var begun: UInt64
    var speed: Double

    var now: Int64 {
      let passed = Int64(min(Double(Process.nanoseconds - begun) / 1000 * speed, 4e18))
      return min(start + passed, Self.last)
    }

    /// The last moment of the year 9999: years have four digits.
    private static let last: Int64 = 253_402_300_799_999_999
  }

  /// The present course; `nil` for the clock of the machine.
  ///
  /// Threads that write events read it too.
  private let course: Lock<Course>?

  /// Starts the clock.
  init(_ setting: Setting?) {
    course = setting.map { setting in
      Lock(
        Course(
          start: setting.start ?? Process.now, begun: Process.nanoseconds, speed: setting.speed))
    }
  }

  /// Microseconds since 1970.
  var now: Int64 { course?.withLock { $0.now } ?? Process.now }

  /// The seconds that pass in one second.
  var speed: Double { course?.withLock { $0.speed } ?? 1 }

  /// Whether it can be set: it is not that of the machine.
  var canBeSet: Bool { course != nil }

  /// Goes forward to a time, if the clock can be set and is before it.
  func advance(to time: Int64) { set(time, speed: nil) }

  /// Sets time and speed; `nil` keeps one.
  ///
  /// It does not go back, also if it has passed the time meanwhile.
  fileprivate func set(_ time: Int64?, speed: Double?) {
    course?.withLock { course in
      course = Course(
        start: max(time ?? .min, course.now), begun: Process.nanoseconds,
        speed: speed ?? course.speed)
    }
  }
}

/// Timers by a ``DaemonClock``, which may be set while they wait.
final class ClockScheduler: Scheduler {
  /// A timer that waits.
  private final class Alarm: Disposable {
    let number: Int

    /// The time in seconds since 1970.
    let due: Double
    private var action: (() -> Void)?
    private unowned let scheduler: ClockScheduler
    var timer: (any Disposable)?

    init(_ number: Int, _ due: Double, _ scheduler: ClockScheduler, _ action: @escaping () -> Void)
    {
      (self.number, self.due, self.scheduler, self.action) = (number, due, scheduler, action)
    }

    var isDisposed: Bool { action == nil }

    func dispose() {
      timer?.dispose()
      guard action != nil else { return }
      (timer, action) = (nil, nil)
      scheduler.alarms[number] = nil
    }

    func fire() {
      let action = action
      dispose()
      action?()
    }
  }

  private let clock: DaemonClock
  private let loop: LoopScheduler
  private var alarms: [Int: Alarm] = [:]
  private var count = 0

  init(_ clock: DaemonClock, on loop: LoopScheduler) {
    (self.clock, self.loop) = (clock, loop)
  }

  private var now: Double { Double(clock.now) / 1_000_000 }

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    count += 1
    let alarm = Alarm(count, now + seconds, self, action)
    alarms[count] = alarm
    start(alarm, after: seconds)
    return alarm
  }

  private func start(_ alarm: Alarm, after seconds: Double) {
    alarm.timer?.dispose()
    alarm.timer = loop.schedule(after: max(0, seconds) / clock.speed) { [unowned alarm] in
      alarm.fire()
    }
  }

  /// Sets the clock, and starts the timers again: those that are due run at once, in their order.
  ///
  /// - Parameter ended: Called after the timers that are due.
  func set(_ time: Int64?, speed: Double?, ended: @escaping () -> Void) -> any Disposable {
    clock.set(time, speed: speed)
    let now = now
    for alarm in alarms.values.sorted(by: { ($0.due, $0.number) < ($1.due, $1.number) }) {
      start(alarm, after: alarm.due - now)
    }
    // Timers of one moment run in the order in which they were started.
    return loop.schedule(after: 0, ended)
  }
}
