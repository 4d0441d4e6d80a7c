internal import Clibuv

/// A value protected by a mutex and a condition variable.
///
/// It does not use `Synchronization.Mutex`. On Linux that is a futex that the thread sanitizer does
/// not see, so it reports every use as a race. This is a pthread mutex, provided by libuv.
package final class Lock<Value>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<uv_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<uv_cond_t>.allocate(capacity: 1)
  private var value: Value

  package init(_ value: sending Value) {
    self.value = value
    let hasMutex = uv_mutex_init(mutex) == 0
    precondition(hasMutex && uv_cond_init(condition) == 0, "no memory for a lock")
  }

  deinit {
    uv_cond_destroy(condition)
    uv_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func withLock<Result>(
    _ body: (inout sending Value) -> sending Result
  ) -> sending Result {
    uv_mutex_lock(mutex)
    defer { uv_mutex_unlock(mutex) }
    return body(&value)
  }

  /// Wakes all threads that wait in ``waitWithLock(until:_:)``.
  package func signal() {
    uv_cond_broadcast(condition)
  }

  /// Waits until the value satisfies a condition, then changes it.
  package func waitWithLock<Result>(
    until isReady: (Value) -> Bool, _ body: (inout sending Value) -> sending Result
  ) -> sending Result {
    uv_mutex_lock(mutex)
    defer { uv_mutex_unlock(mutex) }
    while !isReady(value) { uv_cond_wait(condition, mutex) }
    return body(&value)
  }

  /// Waits until the value satisfies a condition or a time has passed, then changes it.
  package func waitWithLock<Result>(
    atMostMilliseconds time: UInt64, until isReady: (Value) -> Bool,
    _ body: (inout sending Value) -> sending Result
  ) -> sending Result {
    uv_mutex_lock(mutex)
    defer { uv_mutex_unlock(mutex) }
    let end = uv_hrtime() + time * 1_000_000
    while !isReady(value) {
      let now = uv_hrtime()
      guard now < end, uv_cond_timedwait(condition, mutex, end - now) == 0 else { break }
    }
    return body(&value)
  }
}
