import RxDialect
import Signals

/// A subscriber that writes down its events, and what else a test notes between them.
final class Watcher<Element> {
  private(set) var log: [String] = []
  private var run: (any RxDialect.Disposable)?

  init() {}

  init(_ source: some ObservableType<Element>) {
    watch(source)
  }

  func watch(_ source: some ObservableType<Element>) {
    run = source.subscribe { [self] event in on(event) }
  }

  func on(_ event: Event<Element>) {
    switch event {
    case .next(let element): log.append("\(element)")
    case .error(let error): log.append("error \(error)")
    case .completed: log.append("completed")
    }
  }

  func note(_ text: String) {
    log.append(text)
  }

  func leave() {
    run?.dispose()
    run = nil
  }
}

/// A source with a disposable that a test can count: it starts and ends runs, and sends to them.
final class Source<Element> {
  private(set) var started = 0
  private(set) var ended = 0
  private var observers: [Int: RxDialect.AnyObserver<Element>] = [:]

  /// Sent to each observer when its run starts.
  var first: [Event<Element>] = []

  var events: Observable<Element> {
    .create { [self] observer in
      started += 1
      let number = started
      observers[number] = observer
      first.forEach(observer.on)
      return Disposables.create { [self] in
        ended += 1
        observers[number] = nil
      }
    }
  }

  func send(_ event: Event<Element>) {
    for observer in observers.sorted(by: { $0.key < $1.key }).map(\.value) { observer.on(event) }
  }

  func send(_ element: Element) {
    send(.next(element))
  }
}

/// A clock that stands still until a test advances it.
final class StillClock: Scheduler {
  private var now = 0.0
  private var calls: [(due: Double, flag: SimpleDisposable, action: () -> Void)] = []

  func schedule(after seconds: Double, _ action: @escaping () -> Void) -> any Signals.Disposable {
    let flag = SimpleDisposable()
    calls.append((now + seconds, flag, action))
    return flag
  }

  /// Runs the calls that are due by then, in the order of their time.
  func advance(by seconds: Double) {
    let end = now + seconds
    while let next = calls.indices.filter({ calls[$0].due <= end })
      .min(by: { calls[$0].due < calls[$1].due })
    {
      let call = calls.remove(at: next)
      now = call.due
      if !call.flag.isDisposed { call.action() }
    }
    now = end
  }
}
