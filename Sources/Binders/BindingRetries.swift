internal import Signals

/// When values that the journal has refused are passed on again: with the next commit that goes well,
/// and after a while by themselves.
///
/// What is tried and refused again waits for twice as long, up to a minute, whatever others commit:
/// a write that fails takes others with it.
final class BindingRetries {
  private static let shortest: Double = 1
  private static let longest: Double = 60

  private let retry: () -> Void
  private var seconds = shortest

  /// Whether something is to be tried again.
  private var isDue = false

  /// Whether it was tried since the last value became durable.
  private var isTried = false

  /// Whether nothing is tried before the time has come.
  private var isHeld = false
  private var timer: (any Disposable)?

  init(_ retry: @escaping () -> Void) {
    self.retry = retry
  }

  /// Something is lost.
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

  /// Something has become durable.
  func noteSuccess() { isTried = false }

  /// Tries again, if something is lost and the time has come.
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
