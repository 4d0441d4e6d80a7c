extension SignalProtocol {
  /// Emits each event, including the terminal one, `interval` seconds later.
  public func delay(interval: Double, on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let events = TimedEvents(observer, on: scheduler)
      let run = observe { events.add($0, after: interval) }
      return CompositeDisposable([run, events])
    }
  }

  /// Emits each event, including the terminal one, in a separate call from the scheduler.
  public func receive(on scheduler: any Scheduler) -> Signal<Element, Error> {
    delay(interval: 0, on: scheduler)
  }

  /// Starts each run in a call from the scheduler.
  public func subscribe(on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      current.otherDisposable = scheduler.schedule {
        guard !observer.isDisposed else { return }
        current.otherDisposable = observe(with: observer.on)
      }
      return current
    }
  }
}

extension SignalProtocol {
  /// Emits an element once no other follows it for `seconds`.
  ///
  /// At completion it emits the pending element.
  public func debounce(for seconds: Double, queue scheduler: any Scheduler)
    -> Signal<Element, Error>
  {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var held: Element?
      func release() {
        guard let element = held else { return }
        held = nil  // before the call, which may re-enter
        observer.receive(element)
      }
      let run = observe { event in
        timer.otherDisposable?.dispose()
        timer.otherDisposable = nil
        switch event {
        case .next(let element):
          held = element
          timer.otherDisposable = scheduler.schedule(after: seconds, release)
        case .failed(let error): observer.fail(error)
        case .completed:
          release()
          observer.complete()
        }
      }
      return CompositeDisposable([run, timer])
    }
  }
}

extension SignalProtocol {
  /// Emits at most one element per interval of `seconds`: the first, then the newest of each
  /// interval.
  ///
  /// - Parameter latest: Whether the newest element of an interval is emitted at its end or at
  ///   completion. If `false`, elements within an interval are dropped.
  public func throttle(
    for seconds: Double, queue scheduler: any Scheduler, latest: Bool = true
  ) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var isClosed = false
      var held: Element?
      func emit(_ element: Element) {
        isClosed = true
        timer.otherDisposable = scheduler.schedule(after: seconds) {
          isClosed = false
          guard let element = held else { return }
          held = nil
          emit(element)
        }
        observer.receive(element)
      }
      let run = observe { event in
        switch event {
        case .next(let element):
          if !isClosed { emit(element) } else if latest { held = element }
        case .failed(let error): observer.fail(error)
        case .completed:
          if let held { observer.receive(held) }
          observer.complete()
        }
      }
      return CompositeDisposable([run, timer])
    }
  }
}

extension SignalProtocol {
  /// Emits the newest element every `interval` seconds, if one has arrived since the last time.
  public func sample(interval: Double, on scheduler: any Scheduler) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var newest: Element?
      func wait() {
        timer.otherDisposable = scheduler.schedule(after: interval) {
          if let element = newest {
            newest = nil
            observer.receive(element)
          }
          if !observer.isDisposed { wait() }
        }
      }
      wait()
      let run = observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        newest = element
      }
      return CompositeDisposable([run, timer])
    }
  }
}

extension SignalProtocol {
  /// Fails with `error` if no event arrives for `interval` seconds.
  public func timeout(
    after interval: Double, with error: Error, on scheduler: any Scheduler
  ) -> Signal<Element, Error> {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      func wait() {
        timer.otherDisposable?.dispose()
        timer.otherDisposable = scheduler.schedule(after: interval) { observer.fail(error) }
      }
      wait()
      let run = observe { event in
        if event.isTerminal { timer.dispose() } else { wait() }
        observer.on(event)
      }
      return CompositeDisposable([run, timer])
    }
  }
}

extension SignalProtocol {
  /// Drops the elements that arrive within `seconds` of the start of a run.
  public func dropFirst(for seconds: Double, on scheduler: any Scheduler)
    -> Signal<Element, Error>
  {
    Signal { observer in
      var isOpen = false
      let timer = scheduler.schedule(after: seconds) { isOpen = true }
      let run = observe { event in
        if isOpen || event.isTerminal { observer.on(event) }
      }
      return CompositeDisposable([run, timer])
    }
  }
}

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
