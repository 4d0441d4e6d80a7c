import Glibc

/// Blocked signals that the program waits for.
struct SignalWait {
  private var signals = sigset_t()

  init(_ numbers: [CInt]) {
    sigemptyset(&signals)
    for number in numbers { sigaddset(&signals, number) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// Waits for the next signal.
  func next() -> CInt {
    var (signals, number) = (signals, CInt(0))
    while sigwait(&signals, &number) != 0 {}
    return number
  }

  /// Waits for the next signal; returns `nil` if none arrives in time.
  func next(withinMilliseconds milliseconds: Int) -> CInt? {
    var signals = signals
    var time = timespec(tv_sec: 0, tv_nsec: milliseconds * 1_000_000)
    let number = sigtimedwait(&signals, nil, &time)
    return number > 0 ? number : nil
  }

  /// Unblocks the signals; pending ones take effect now.
  func end() {
    var signals = signals
    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
  }
}
