internal import EventLoop
package import Services

/// Measures file systems on a thread of its own, because one that does not answer holds whoever asks
/// it.
///
/// Measurements come in rounds. Who asks starts a round and waits a moment for it; as long as a round
/// does not end, everybody gets what was known before, without waiting.
package final class DiskMeter: Sendable {
  /// For how many milliseconds a round is waited for: disks answer in microseconds.
  private static let patience: UInt64 = 50

  private struct State {
    var disks: [Disk] = []

    /// Rounds that were begun, and that have ended.
    var begun = 0
    var ended = 0
    var worker: Worker<Int>?
    var isClosed = false
  }

  private let state = Lock(State())
  private let mounts: @Sendable () -> [String]
  private let measure: @Sendable (String) -> Disk?

  /// - Parameters:
  ///   - mounts: Where file systems are mounted; called on the thread.
  ///   - measure: Measures one of them, or `nil`; called on the thread, and may never return.
  package init(
    mounts: @escaping @Sendable () -> [String], measure: @escaping @Sendable (String) -> Disk?
  ) {
    self.mounts = mounts
    self.measure = measure
  }

  /// The file systems as they are now, or as they were when they were measured last.
  package func disks() -> [Disk] {
    guard let round = begin() else { return state.withLock(\.disks) }
    return state.waitWithLock(
      atMostMilliseconds: Self.patience, until: { $0.ended >= round }, \.disks)
  }

  /// Begins a round, and returns its number; `nil` when the last one has not ended.
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

  /// Ends the thread, unless it waits for a file system: then it ends with the process.
  package func close() {
    let worker = state.withLock { state in
      state.isClosed = true
      return state.begun == state.ended ? state.worker : nil
    }
    worker?.finish()
  }
}
