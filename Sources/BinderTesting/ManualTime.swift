package import Signals

/// A scheduler and clock with manual time.
package final class ManualTime: Scheduler {
  package private(set) var milliseconds: UInt64 = 1_000

  private var elapsed: UInt64 = 0

  package init() {}

  /// The nanoseconds that pass with each look at the clock, so that a step of work has a fixed cost.
  package var nanosecondsPerLook: UInt64 = 0

  /// The nanoseconds spent within turns; advanced by ``work(nanoseconds:)`` and by each look.
  package var nanoseconds: UInt64 {
    elapsed += nanosecondsPerLook
    return elapsed + cost()
  }

  /// Returns the nanoseconds that other work has cost so far; it only grows while a slice runs.
  package var cost: () -> UInt64 = { 0 }

  /// Lets time pass within a turn.
  package func work(nanoseconds: UInt64) { elapsed += nanoseconds }

  private var waiting: [(id: Int, at: UInt64, action: () -> Void)] = []

  package var count: Int { waiting.count }
  private var lastID = 0

  package func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    lastID += 1
    let id = lastID
    waiting.append((id, milliseconds + UInt64((max(seconds, 0) * 1000).rounded(.up)), action))
    return BlockDisposable { [unowned self] in waiting.removeAll { $0.id == id } }
  }

  package func advance(_ time: UInt64) {
    let end = milliseconds + time
    while let next = waiting.filter({ $0.at <= end }).min(by: { $0.at < $1.at }) {
      waiting.removeAll { $0.id == next.id }
      milliseconds = max(milliseconds, next.at)
      next.action()
    }
    milliseconds = end
  }
}
