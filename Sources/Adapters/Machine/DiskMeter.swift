internal import EventLoop
package import Features

/// Measures file systems on a separate thread, because a file system that does not respond blocks
/// its caller.
///
/// Measurements come in rounds. A caller starts a round and waits briefly for it. While a round is
/// unfinished, other callers get the previous results without waiting. Because the caller waits,
/// this is no ``Background``, which answers later on the loop.
package final class DiskMeter: Sendable {
  /// Maximum wait for a round, in milliseconds.
  ///
  /// Disks normally answer in microseconds.
  private static let patience: UInt64 = 50

  private struct State {
    var disks: [Disk] = []

    /// Number of rounds begun and ended.
    var begun = 0
    var ended = 0
    var worker: Worker<Int>?
    var isClosed = false
  }

  private let state = Lock(State())
  private let mounts: @Sendable () -> [String]
  private let measure: @Sendable (String) -> Disk?

  /// - Parameters:
  ///   - mounts: Returns the mount points; called on the thread.
  ///   - measure: Measures one of them, or returns `nil`. Called on the thread, and may never
  ///     return.
  package init(
    mounts: @escaping @Sendable () -> [String], measure: @escaping @Sendable (String) -> Disk?
  ) {
    self.mounts = mounts
    self.measure = measure
  }

  /// Returns the file systems as measured now, or as measured last.
  package func disks() -> [Disk] {
    guard let round = begin() else { return state.withLock(\.disks) }
    return state.waitWithLock(
      atMostMilliseconds: Self.patience, until: { $0.ended >= round }, \.disks)
  }

  /// Begins a round and returns its number; `nil` if the previous one has not ended.
  private func begin() -> Int? {
    let (state, mounts, measure) = (state, mounts, measure)
    return state.withLock { [state] current -> Int? in
      guard current.begun == current.ended, !current.isClosed else { return nil }
      if current.worker == nil {
        current.worker = try? Worker<Int> {
        } work: { (_: Void, rounds) in
          let disks = mounts().compactMap(measure)
          state.withLock { current in
            current.disks = disks
            current.ended = rounds.last ?? current.ended
          }
          state.signal()
        }
      }
      guard let worker = current.worker else { return nil }
      current.begun += 1
      worker.post(current.begun)
      return current.begun
    }
  }

  /// Ends the thread.
  ///
  /// If a file system blocks it, it ends with the process.
  package func close() {
    let worker = state.withLock { state in
      state.isClosed = true
      return state.begun == state.ended ? state.worker : nil
    }
    worker?.finish()
  }
}
