import Glibc

/// Signals that are waited for instead of being suffered.
struct SignalWait {
  private var signals = sigset_t()

  init(_ numbers: [CInt]) {
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// The next of them.
  func next() -> CInt {
    var (signals, number) = (signals, CInt(0))
    while sigwait(&signals, &number) != 0 {}
    return number
  }

  /// The next of them within a time; `nil` when there is none.
  func next(withinMilliseconds milliseconds: Int) -> CInt? {
    var signals = signals
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    let number = sigtimedwait(&signals, nil, &time)
    return number > 0 ? number : nil
  }

  /// Lets them do again what they do to other programs; those that have come meanwhile do it now.
  func end() {
    var signals = signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
