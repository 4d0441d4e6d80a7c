package import Signals

/// A scheduler for signals that uses the event loop's timers.
package final class LoopScheduler: Scheduler {
  private let loop: Loop

  package init(_ loop: Loop) {
    self.loop = loop
  }

  package func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    let alarm = Alarm()
    do throws(SystemError) {
      let timer = try Timer(on: loop) { [unowned alarm] in
        alarm.dispose()
        action()
      }
      timer.start(afterMilliseconds: UInt64(max(0, (seconds * 1000).rounded(.up))))
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
