internal import Clibuv
package import Signals

/// A one-shot or repeating timer on the monotonic clock.
///
/// A started timer keeps the loop running. A timer lives until it is closed.
package final class Timer {
  private var onFire: (() -> Void)?
  private var handle: Handle<uv_timer_t>?

  /// Creates a stopped timer.
  ///
  /// - Parameter onFire: Called on the loop's thread; missed calls are not repeated.
  package init(on loop: Loop, onFire: @escaping () -> Void) throws(SystemError) {
    self.onFire = onFire
    handle = try Handle("uv_timer_init", owner: self) { uv_timer_init(loop.pointer, $0) }
  }

  /// Starts or restarts the timer.
  ///
  /// - Parameter interval: Milliseconds between later calls; 0 for none.
  package func start(afterMilliseconds delay: UInt64, everyMilliseconds interval: UInt64 = 0) {
    guard let handle else { return }
    // Fails only for a closing handle or a missing callback (libuv, src/timer.c).
    let status = uv_timer_start(handle.raw, timerFired, delay, interval)
    precondition(status == 0, "a timer did not start: \(status)")
  }

  /// Stops the timer; it may be started again.
  package func stop() {
    if let handle { uv_timer_stop(handle.raw) }
  }

  /// Closes the timer and releases its callback.
  package func close() {
    handle?.close()
    handle = nil
    onFire = nil  // the callback may retain the timer
  }

  fileprivate func fire() {
    onFire?()
  }
}

private func timerFired(_ timer: UnsafeMutablePointer<uv_timer_t>?) {
  owner(of: timer?.pointee.data, as: Timer.self).fire()
}

/// A scheduler for signals that uses the event loop's timers.
package final class LoopScheduler: Scheduler {
  private let loop: Loop

  package init(_ loop: Loop) { self.loop = loop }

  package func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    let alarm = Alarm()
    do throws(SystemError) {
      let timer = try Timer(on: loop) { [unowned alarm] in
        alarm.dispose()
        action()
      }
      // libuv runs a timer of 0 ms that a timer has started in the same turn: a chain of them would
      // let nobody else run. One beyond 30,000 years never runs.
      timer.start(afterMilliseconds: UInt64(min(max(1, (seconds * 1000).rounded(.up)), 1e15)))
      alarm.timer = timer
    } catch {
      preconditionFailure("no timer: \(error)")  // libuv's timers fail only without memory
    }
    return alarm
  }

  private final class Alarm: Disposable {
    var timer: Timer?

    var isDisposed: Bool { timer == nil }

    func dispose() {
      timer?.close()
      timer = nil
    }
  }
}
