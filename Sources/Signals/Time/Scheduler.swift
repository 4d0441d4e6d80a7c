/// Calls back later: the one way in which signals know time.
package protocol Scheduler: AnyObject {
  /// Calls `action` once, on the thread of the signals.
  ///
  /// Actions that are due at the same moment are called in the order in which they came.
  ///
  /// - Parameter seconds: From now, by a monotonic clock.
  /// - Returns: What prevents the call.
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable
}

extension Scheduler {
  /// Calls `action` as soon as what runs now is done.
  @discardableResult
  package func schedule(_ action: @escaping () -> Void) -> any Disposable {
    schedule(after: 0, action)
  }
}

/// A scheduler that somebody else does not run: whoever waits for it runs it.
package protocol RunnableScheduler: Scheduler {
  /// Waits for what is due next and calls it; `false` when nothing will ever be.
  func runNext() -> Bool
}
