internal import Glibc
internal import Synchronization

/// Waits for descriptors on one thread of its own, so that waiting tasks block no thread.
final class Readiness: Sendable {
  private struct Waiter {
    let descriptor: CInt
    let events: Int16
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var waiters: [UInt64: Waiter] = [:]

    /// The waits that were cancelled before they had begun.
    var cancelled: Set<UInt64> = []
    var lastID: UInt64 = 0
    var hasThread = false
  }

  static let shared = Readiness()

  private let state = Mutex(State())

  /// A pipe whose bytes wake the thread.
  private let (wakeOutput, wakeInput): (CInt, CInt)

  private init() {
    var ends: [CInt] = [-1, -1]
    pipe(&ends)
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
    (wakeOutput, wakeInput) = (ends[0], ends[1])
  }

  /// Waits until a descriptor is ready, or has an error.
  ///
  /// - Parameter events: The events of `poll`.
  /// - Returns: `false` if the task was cancelled.
  func wait(for events: Int32, on descriptor: CInt) async -> Bool {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let isReady = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let waiter = Waiter(
          descriptor: descriptor, events: Int16(events), continuation: continuation)
        if begin(waiter, id) { notify() } else { continuation.resume(returning: false) }
      }
    } onCancel: {
      cancel(id)
    }
    _ = state.withLock { $0.cancelled.remove(id) }
    return isReady
  }

  /// Adds a waiter; `false` if it was cancelled before.
  private func begin(_ waiter: Waiter, _ id: UInt64) -> Bool {
    state.withLock { state in
      guard !state.cancelled.contains(id) else { return false }
      state.waiters[id] = waiter
      if !state.hasThread {
        state.hasThread = true
        var thread = pthread_t()
        pthread_create(&thread, nil, { _ in Readiness.shared.run() }, nil)
        pthread_detach(thread)
      }
      return true
    }
  }

  private func cancel(_ id: UInt64) {
    let waiter = state.withLock { state in
      let waiter = state.waiters.removeValue(forKey: id)
      if waiter == nil { state.cancelled.insert(id) }
      return waiter
    }
    waiter?.continuation.resume(returning: false)
  }

  private func notify() {
    // A full pipe wakes the thread too.
    var byte: UInt8 = 0
    write(wakeInput, &byte, 1)
  }

  // MARK: The thread

  private func run() -> Never {
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let waiters = state.withLock { state in
        state.waiters.map { (id: $0.key, descriptor: $0.value.descriptor, events: $0.value.events) }
      }
      var ends = [pollfd(fd: wakeOutput, events: Int16(POLLIN), revents: 0)]
      ends += waiters.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
      guard poll(&ends, nfds_t(ends.count), -1) > 0 else { continue }
      while read(wakeOutput, &bytes, bytes.count) == bytes.count {}
      for (waiter, end) in zip(waiters, ends.dropFirst()) where end.revents != 0 {
        // A cancelled waiter is gone; its descriptor may be closed.
        let ready = state.withLock { $0.waiters.removeValue(forKey: waiter.id) }
        ready?.continuation.resume(returning: true)
      }
    }
  }
}
