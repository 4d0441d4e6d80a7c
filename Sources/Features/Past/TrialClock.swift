internal import Signals

/// A clock that runs through the times of past events.
final class TrialClock: Scheduler {
  private struct Entry {
    let due: Int64
    let number: Int
    let flag: SimpleDisposable
    let action: () -> Void
  }

  /// Microseconds since 1970.
  private(set) var now: Int64 = 0

  /// The waiting calls: a binary heap, the earliest first.
  private var entries: [Entry] = []
  private var last = 0

  /// The number of calls that were left when the cancelled ones were removed.
  private var kept = 0

  /// The number of waiting calls; some may be cancelled.
  var count: Int { entries.count }

  func start(at time: Int64) { now = time }

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    last += 1
    let flag = SimpleDisposable()
    let due = now + Int64((max(0, seconds) * 1_000_000).rounded())
    if entries.count > 2 * kept + 1024 { removeCancelled() }
    entries.append(Entry(due: due, number: last, flag: flag, action: action))
    rise()
    return flag
  }

  /// Runs the next call up to a time, and sets the clock to its time.
  ///
  /// - Returns: `false` if there is none; the clock then has the given time.
  func runNext(upTo time: Int64) -> Bool {
    while let first = entries.first, first.due <= time {
      removeFirst()
      guard !first.flag.isDisposed else { continue }
      now = max(now, first.due)
      first.action()
      return true
    }
    now = max(now, time)
    return false
  }

  /// Removes the cancelled calls, which may be due long after they were made.
  private func removeCancelled() {
    entries.removeAll { $0.flag.isDisposed }
    // A sorted array is a heap.
    entries.sort { ($0.due, $0.number) < ($1.due, $1.number) }
    kept = entries.count
  }

  private func isBefore(_ one: Int, _ other: Int) -> Bool {
    (entries[one].due, entries[one].number) < (entries[other].due, entries[other].number)
  }

  private func rise() {
    var i = entries.count - 1
    while i > 0, isBefore(i, (i - 1) / 2) {
      entries.swapAt(i, (i - 1) / 2)
      i = (i - 1) / 2
    }
  }

  private func removeFirst() {
    entries.swapAt(0, entries.count - 1)
    entries.removeLast()
    var i = 0
    while 2 * i + 1 < entries.count {
      var child = 2 * i + 1
      if child + 1 < entries.count, isBefore(child + 1, child) { child += 1 }
      guard isBefore(child, i) else { break }
      entries.swapAt(i, child)
      i = child
    }
  }
}
