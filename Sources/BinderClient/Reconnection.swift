internal import JSON
internal import Wire

/// The rule by which every client connects again after a loss.
///
/// A client asks for the pause after each lost connection and after each failed attempt, and reports the
/// first answer of a connection:
///
/// ```swift
/// guard let pause = reconnection.pause(after: end) else { throw end.error }
/// ```
package struct Reconnection {
  private var backoff: Backoff

  /// Whether a pause was used since the last success.
  private var hasPaused = false

  /// - Parameter longest: The longest pause that grows, in milliseconds.
  package init(longestPause longest: UInt64 = 5_000) {
    backoff = Backoff(longest: longest)
  }

  /// Returns the time to wait before the next attempt, in milliseconds; `nil` if none can succeed.
  ///
  /// The first pause is the one that the daemon asks for. If that does not help, the pauses grow all the
  /// same, so that a daemon which crashes at each request of a client is not asked without end.
  package mutating func pause(
    after end: ConnectionEnd, chance: Double = .random(in: 0..<1)
  ) -> UInt64? {
    guard end.isPassing else { return nil }
    defer { hasPaused = true }
    guard let requested = end.reconnectMilliseconds else { return backoff.next(chance: chance) }
    return hasPaused ? max(requested, backoff.next(chance: chance)) : requested
  }

  /// Begins again with the shortest pause.
  ///
  /// Call it after the first answer to a request other than `hello`, not earlier: a daemon may accept
  /// connections and fail at the first request.
  package mutating func succeed() {
    backoff.reset()
    hasPaused = false
  }
}

/// The end of a connection, or a failed attempt to make one.
package struct ConnectionEnd: Error {
  /// The error for the program.
  package let error: ClientError

  /// The time after which the daemon wants to be asked again, in milliseconds; `nil` if it has named none.
  package let reconnectMilliseconds: UInt64?

  /// The reasons that are gone when the program reads again.
  private static let temporary: Set = ["stalled", "out_queue_full"]

  /// - Parameter requested: The time of the daemon's last line; `nil` if it had none.
  package init(_ error: ClientError, reconnectMilliseconds requested: UInt64? = nil) {
    self.error = error
    reconnectMilliseconds = requested ?? error.reconnectMilliseconds
  }

  /// Whether another attempt may succeed.
  ///
  /// A daemon that closes a connection without a time to return has done so because of this client.
  package var isPassing: Bool {
    switch error {
    case .noDaemon: true
    case .lost(let reason):
      reconnectMilliseconds != nil || reason.map(Self.temporary.contains) ?? true
    case .refused(let error): error.retry || error.endsConnection
    default: false
    }
  }
}

extension ClientError {
  /// The time after which a daemon that stops wants to be asked again, in milliseconds.
  fileprivate var reconnectMilliseconds: UInt64? {
    guard case .refused(let error) = self, case .number(let time)? = error.data["reconnect_ms"]
    else { return nil }
    return time.int64.flatMap { UInt64(exactly: $0) }
  }

  /// Whether there is no connection, or the daemon is about to end it, so that a command may be sent
  /// again.
  package var isOfConnection: Bool {
    switch self {
    case .noDaemon, .lost: true
    case .refused(let error): error.endsConnection
    default: false
    }
  }
}

extension WireError {
  /// Whether the error is about the connection, not about a request.
  fileprivate var endsConnection: Bool { name == .shuttingDown || name == .overloaded }
}

/// Delays between reconnection attempts: 0.1 s, doubling to 5 s by default, with jitter.
///
/// The jitter spreads the reconnections of many clients after a daemon restart.
package struct Backoff {
  private static let first: UInt64 = 100
  private let longest: UInt64

  private var step = Self.first

  /// - Parameter longest: The longest delay in milliseconds.
  package init(longest: UInt64 = 5_000) {
    self.longest = longest
  }

  /// Returns the next delay in milliseconds.
  ///
  /// - Parameter chance: A random number from 0 up to 1. The delay is between half of the step and
  ///   the whole step.
  package mutating func next(chance: Double) -> UInt64 {
    let pause = step / 2 + UInt64(Double(step / 2) * chance)
    step = min(step * 2, longest)
    return pause
  }

  /// Starts again with the shortest delay, after a success.
  package mutating func reset() {
    step = Self.first
  }
}
