/// Events that are told later, in the order in which they came; disposed, none is told any more.
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

  /// Tells an event after so many seconds.
  func add(_ event: Signal<Element, Error>.Event, after seconds: Double) {
    guard !isDisposed else { return }
    let timer = SerialDisposable(otherDisposable: nil)
    waiting.append((event, timer))
    timer.otherDisposable = scheduler.schedule(after: seconds) { [self] in
      // The oldest, and not the one of this timer: they are the same unless a clock misbehaves.
      if let (event, _) = waiting.popFirst() { observer.on(event) }
    }
  }

  func dispose() {
    isDisposed = true
    while let (_, timer) = waiting.popFirst() { timer.dispose() }
  }
}
