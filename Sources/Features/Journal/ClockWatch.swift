internal import EventSourcing
internal import Journal

/// Compares the machine's clocks with the journal, and finds each jump once.
struct ClockWatch {
  private let read: () -> AgeClock.Reading

  /// The time for the age of events; `nil` before the first use.
  private var age: AgeClock?
  private var hasLeapt = false
  private var isInFuture = false

  /// - Parameter read: Reads the clocks.
  init(_ read: @escaping () -> AgeClock.Reading) {
    self.read = read
  }

  private func current(_ host: ServiceHost) -> AgeClock {
    age ?? AgeClock(kept: host.note(.age), lastTime: host.lastTime, read())
  }

  /// The microseconds by which the wall clock is ahead of the accepted time; 0 if accepted.
  func leap(_ host: ServiceHost) -> Int64 {
    var clock = current(host)
    return clock.advance(to: read())
  }

  /// Advances the time for the age of events, and stores it for the next start.
  ///
  /// - Returns: The time, and the microseconds of a jump that was not accepted and is new.
  mutating func advance(_ host: ServiceHost) -> (time: Int64, newLeap: Int64?) {
    var clock = current(host)
    let ahead = clock.advance(to: read())
    age = clock
    defer { hasLeapt = ahead > 0 }
    host.keep(clock.kept, as: .age)
    return (clock.time, ahead > 0 && !hasLeapt ? ahead : nil)
  }

  /// Accepts the wall clock.
  mutating func believe(_ host: ServiceHost) {
    var clock = current(host)
    clock.believe(read())
    age = clock
  }

  /// A minute in microseconds.
  private static let maxFuture: Int64 = 60_000_000

  /// The microseconds by which the last event is ahead of the wall clock; 0 if less than a minute.
  func future(_ host: ServiceHost) -> Int64 {
    let ahead = (host.lastTime ?? 0) - read().wall
    return ahead > Self.maxFuture ? ahead : 0
  }

  /// Returns ``future(_:)`` when it was 0 at the last call; otherwise `nil`.
  mutating func checkFuture(_ host: ServiceHost) -> Int64? {
    let ahead = future(host)
    defer { isInFuture = ahead > 0 }
    return ahead > 0 && !isInFuture ? ahead : nil
  }
}
