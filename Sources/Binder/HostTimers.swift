internal import Signals

/// The delayed calls of a host: they run from the start to the stop of the daemon.
///
/// Before the start nothing may be recorded, and a task such as `--compact` never starts. Without the
/// stop the loop of the daemon would not end.
final class HostTimers {
  private enum Phase { case building, running, stopped }

  private let scheduler: any Scheduler
  private var phase = Phase.building

  /// The calls that wait for the start, and those that wait for their time, by number.
  private var unstarted: [(id: Int, start: () -> Void)] = []
  private var running: [Int: any Disposable] = [:]
  private var lastID = 0

  init(on scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Calls a function once; the delay begins with the start of the daemon.
  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Disposable {
    lastID += 1
    let id = lastID
    // A delay that has passed, and a number that is none, count as 0.
    let seconds = seconds > 0 ? seconds : 0
    let start = { [unowned self] in
      running[id] = scheduler.schedule(after: seconds) { [weak self] in
        guard let self, running.removeValue(forKey: id) != nil else { return }
        action()
      }
    }
    add(id, start)
    return BlockDisposable { [weak self] in self?.cancel(id) }
  }

  /// Begins something with the start of the daemon, and ends it with the stop.
  func run(_ begin: @escaping () -> any Disposable) {
    lastID += 1
    let id = lastID
    add(id) { [unowned self] in running[id] = begin() }
  }

  private func add(_ id: Int, _ start: @escaping () -> Void) {
    switch phase {
    case .building: unstarted.append((id, start))
    case .running: start()
    case .stopped: break
    }
  }

  private func cancel(_ id: Int) {
    unstarted.removeAll { $0.id == id }
    running.removeValue(forKey: id)?.dispose()
  }

  func begin() {
    guard phase == .building else { return }
    phase = .running
    let waiting = unstarted
    unstarted = []
    for call in waiting { call.start() }
  }

  func stop() {
    phase = .stopped
    unstarted = []
    for timer in running.values { timer.dispose() }
    running = [:]
  }
}
