import Glibc

/// Waits until a condition holds.
///
/// - Returns: Whether it holds within a minute.
func holds(_ condition: () throws -> Bool) rethrows -> Bool {
  let end = milliseconds() + 60_000
  while true {
    if try condition() { return true }
    guard milliseconds() < end else { return false }
    usleep(5_000)
  }
}

/// Returns the monotonic clock in milliseconds.
func milliseconds() -> Int {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
}
