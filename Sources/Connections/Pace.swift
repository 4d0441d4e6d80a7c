internal import Signals

/// Lets something be sent at an interval, and wakes its subscription when that is over.
struct Pace {
  private let interval: UInt64

  /// Milliseconds of the hub's clock before which nothing is sent.
  private var notBefore: UInt64 = 0
  private var alarm: (any Disposable)?

  /// - Parameter interval: Milliseconds between what is sent, at least; 0 for none.
  init(everyMilliseconds interval: UInt64) {
    self.interval = interval
  }

  /// What is sent now counts as the first.
  mutating func start(_ hub: Hub) {
    notBefore = hub.now() + interval
  }

  /// Whether something may be sent now; if not, the subscription is woken when it may.
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
