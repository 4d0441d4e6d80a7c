/// Calls back later: the one way in which signals know time.
package protocol Scheduler: AnyObject {
  /// Calls `action` once, on the thread of the signals.
  ///
  /// - Parameter seconds: From now, by a monotonic clock.
  /// - Returns: What prevents the call.
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable
}
