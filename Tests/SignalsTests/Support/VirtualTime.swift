import Signals

/// A scheduler with a clock that a test advances.
final class VirtualTime: RunnableScheduler {
  private(set) var now = 0.0
  private var actions: [(due: Double, number: Int, action: () -> Void)] = []
  private var scheduled = 0

  /// The number of pending calls.
  var waiting: Int { actions.count }

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    scheduled += 1
    let number = scheduled
    let due = now + max(0, seconds)
    let i = actions.firstIndex { $0.due > due } ?? actions.count
    actions.insert((due, number, action), at: i)
    return BlockDisposable { [weak self] in self?.actions.removeAll { $0.number == number } }
  }

  func runNext() -> Bool {
    guard !actions.isEmpty else { return false }
    let next = actions.removeFirst()
    now = next.due
    next.action()
    return true
  }

  /// Runs all calls that are due within so many seconds.
  func advance(by seconds: Double) {
    let end = now + seconds
    while let next = actions.first, next.due <= end { _ = runNext() }
    now = end
  }

  /// Runs pending calls, and those that they schedule, for at most so many seconds.
  func run(for seconds: Double = 1000) {
    let end = now + seconds
    while let next = actions.first, next.due <= end { _ = runNext() }
  }
}
