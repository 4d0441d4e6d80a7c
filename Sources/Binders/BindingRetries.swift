internal import Signals

/// Schedules retries of values that the journal refused: after the next successful commit, or after
/// a delay.
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
  func noteLoss(on scheduler: (any Scheduler)?) {
    seconds = isTried ? min(2 * seconds, Self.longest) : Self.shortest
    isHeld = isTried && scheduler != nil
    isDue = true
    timer?.dispose()
    timer = scheduler?.schedule(after: seconds) { [unowned self] in
      isHeld = false
      tryNow()
    }
  }

  /// Notes that a write has become durable.
  func noteSuccess() { isTried = false }

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
