internal import Clibuv

/// Calls back once or again and again, by the monotonic clock.
///
/// A timer that waits keeps the loop running, and lives until it is closed.
package final class Timer {
  private var onFire: (() -> Void)?
  private var handle: Handle<uv_timer_t>?

  /// Makes a timer that does not wait yet.
  ///
  /// - Parameter onFire: Called on the loop's thread; late calls are not made up for.
  package init(on loop: Loop, onFire: @escaping () -> Void) throws(SystemError) {
    self.onFire = onFire
    handle = try Handle("uv_timer_init", owner: self) { uv_timer_init(loop.pointer, $0) }
  }

  /// Starts to wait, in place of what it waited for before.
  ///
  /// - Parameter interval: Milliseconds between later calls; 0 for none.
  package func start(afterMilliseconds delay: UInt64, everyMilliseconds interval: UInt64 = 0) {
    guard let handle else { return }
    // Fails for a closing handle and a missing callback only (libuv, src/timer.c).
    let status = uv_timer_start(handle.raw, timerFired, delay, interval)
    precondition(status == 0, "a timer did not start: \(status)")
  }

  /// Waits no longer; it may be started again.
  package func stop() {
    if let handle { uv_timer_stop(handle.raw) }
  }

  /// Ends the timer and drops its closure.
  package func close() {
    handle?.close()
    handle = nil
    onFire = nil  // what the closure holds may hold the timer
  }

  fileprivate func fire() {
    onFire?()
  }
}

private func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
  owner(of: timer?.pointee.data, as: Timer.self).fire()
}
