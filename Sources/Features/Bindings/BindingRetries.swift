internal import Signals

/// Schedules retries of values that the journal or a quota refused.
///
/// Values that were lost in the journal are retried after the next successful commit, or after a
/// delay. Values that were refused before they were written wait for the delay, because the commit
/// that runs now would retry them in vain.
///
/// If a retry is refused too, the delay doubles, up to a minute. Until it has passed, commits of
/// others trigger no retry, because a failing write also fails the writes in the same batch.
final class BindingRetries {
  private static let shortest: Double = 1
  private static let longest: Double = 60

  private let retry: () -> Void
  private var seconds = shortest

  /// Whether a retry is due.
  private var isDue = false

  /// Whether a retry has happened since a value last became durable.
  private var isTried = false

  /// Whether retries wait for the delay.
  private var isHeld = false
  private var timer: (any Disposable)?

  init(_ retry: @escaping () -> Void) {
    self.retry = retry
  }

  /// Notes that a write was lost and schedules a retry.
  func scheduleAfterLoss(on scheduler: (any Scheduler)?) {
    seconds = isTried ? min(2 * seconds, Self.longest) : Self.shortest
    hold(isTried, on: scheduler)
  }

  /// Notes that a value was refused before it was written, and schedules a retry.
  ///
  /// A delay that runs already is not changed: one retry passes on the values of all bindings.
  func scheduleAfterRefusal(on scheduler: (any Scheduler)?) {
    guard !isHeld else { return isDue = true }
    seconds = isTried ? min(2 * seconds, Self.longest) : Self.shortest
    hold(true, on: scheduler)
  }

  /// Schedules a retry after the delay.
  ///
  /// - Parameter holds: Whether commits trigger no retry before.
  private func hold(_ holds: Bool, on scheduler: (any Scheduler)?) {
    isHeld = holds && scheduler != nil
    isDue = true
    timer?.dispose()
    timer = scheduler?.schedule(after: seconds) { [unowned self] in
      isHeld = false
      tryNow()
    }
  }

  /// Notes that a write has become durable.
  func succeed() { isTried = false }

  /// Retries if a retry is due and not delayed.
  func tryNow() {
    guard isDue, !isHeld else { return }
    (isDue, isTried) = (false, true)
    timer?.dispose()
    timer = nil
    retry()
  }

  func stop() {
    timer?.dispose()
    timer = nil
    isDue = false
  }
}
