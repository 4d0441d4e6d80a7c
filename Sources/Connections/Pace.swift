internal import Signals

/// A rate limit for one subscription, which it wakes at the end of each interval.
struct Pace {
  private let interval: UInt64

  /// The earliest time of the next frame, in milliseconds of the hub's clock.
  private var notBefore: UInt64 = 0
  private var alarm: (any Disposable)?

  /// - Parameter interval: The minimum interval between frames in milliseconds; 0 for none.
  init(everyMilliseconds interval: UInt64) {
    self.interval = interval
  }

  /// Starts the first interval, because the answer counts as a frame.
  mutating func start(_ hub: Hub) {
    notBefore = hub.now() + interval
  }

  /// Returns whether a frame may be sent now.
  ///
  /// If not, wakes the subscription when it may.
  mutating func isDue(_ subscription: Subscription) -> Bool {
    guard interval > 0 else { return true }
    let hub = subscription.connection.hub
    let now = hub.now()
    if now >= notBefore {
      notBefore = now + interval
      end()
      return true
    }
    if alarm == nil {
      let seconds = Double(notBefore - now) / 1000
      alarm = hub.scheduler.schedule(after: seconds) { [weak subscription] in
        subscription?.markDirty()
      }
    }
    return false
  }

  mutating func end() {
    alarm?.dispose()
    alarm = nil
  }
}
