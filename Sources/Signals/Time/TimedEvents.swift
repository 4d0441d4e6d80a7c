internal import Facts

/// A queue of events to send later, in the order of arrival; disposing it discards them.
final class TimedEvents<Element, Error: Swift.Error>: Disposable {
  private let observer: AtomicObserver<Element, Error>
  private let scheduler: any Scheduler
  private var waiting = Queue<(event: Signal<Element, Error>.Event, timer: SerialDisposable)>()
  private(set) var isDisposed = false
  private let live = LiveNode("TimedEvents")

  init(_ observer: AtomicObserver<Element, Error>, on scheduler: any Scheduler) {
    self.observer = observer
    self.scheduler = scheduler
  }

  /// Sends an event after the given number of seconds.
  func add(_ event: Signal<Element, Error>.Event, after seconds: Double) {
    guard !isDisposed else { return }
    let timer = SerialDisposable(otherDisposable: nil)
    waiting.append((event, timer))
    timer.otherDisposable = scheduler.schedule(after: seconds) { [self] in
      // Send the oldest event, so that the order holds even if a clock misbehaves.
      if let (event, _) = waiting.popFirst() { observer.on(event) }
    }
  }

  func dispose() {
    isDisposed = true
    while let (_, timer) = waiting.popFirst() { timer.dispose() }
  }
}
