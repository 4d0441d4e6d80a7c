/// A source of delayed calls, and the only clock of signals.
public protocol Scheduler: AnyObject {
  /// Calls `action` once, on the thread of the signals.
  ///
  /// Actions that are due at the same moment run in the order in which they were scheduled.
  ///
  /// - Parameter seconds: The delay from now, by a monotonic clock.
  /// - Returns: A disposable that cancels the call.
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable
}

extension Scheduler {
  /// Calls `action` after the code that is currently running.
  @discardableResult
  public func schedule(_ action: @escaping () -> Void) -> any Disposable {
    schedule(after: 0, action)
  }
}

/// A scheduler that its caller runs step by step.
public protocol RunnableScheduler: Scheduler {
  /// Waits for the next action and runs it; returns `false` if no action is scheduled.
  func runNext() -> Bool
}
