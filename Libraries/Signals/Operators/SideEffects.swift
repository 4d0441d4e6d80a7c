extension SignalProtocol {
  /// Calls closures during a run, each before the observer receives the event.
  ///
  /// - Parameter receiveCancel: Called once, when the run has ended or was disposed.
  public func handleEvents(
    receiveSubscription: (() -> Void)? = nil,
    receiveOutput: ((Element) -> Void)? = nil,
    receiveCompletion: ((Subscribers.Completion<Error>) -> Void)? = nil,
    receiveCancel: (() -> Void)? = nil
  ) -> Signal<Element, Error> {
    Signal { observer in
      receiveSubscription?()
      let run = observe { event in
        switch event {
        case .next(let element): receiveOutput?(element)
        case .failed(let error): receiveCompletion?(.failure(error))
        case .completed: receiveCompletion?(.finished)
        }
        observer.on(event)
      }
      guard let receiveCancel else { return run }
      return BlockDisposable {
        run.dispose()
        receiveCancel()
      }
    }
  }
}

extension SignalProtocol {
  /// Prints the events of each run, prefixed with the title or the location of this call.
  public func debug(
    _ title: String? = nil, file: String = #fileID, function: String = #function, line: Int = #line
  ) -> Signal<Element, Error> {
    let name = "[\(title ?? "\(file):\(function):\(line)")]"
    return handleEvents(
      receiveSubscription: { print("\(name) started") },
      receiveOutput: { print("\(name) next(\($0))") },
      receiveCompletion: {
        switch $0 {
        case .finished: print("\(name) finished")
        case .failure(let error): print("\(name) failed: \(error)")
        }
      },
      receiveCancel: { print("\(name) disposed") })
  }

  /// Traps, so that a debugger stops, when one of the closures returns `true`.
  public func breakpoint(
    receiveSubscription: (() -> Bool)? = nil,
    receiveOutput: ((Element) -> Bool)? = nil,
    receiveCompletion: ((Subscribers.Completion<Error>) -> Bool)? = nil
  ) -> Signal<Element, Error> {
    handleEvents(
      receiveSubscription: { precondition(receiveSubscription?() != true, "breakpoint") },
      receiveOutput: { precondition(receiveOutput?($0) != true, "breakpoint") },
      receiveCompletion: { precondition(receiveCompletion?($0) != true, "breakpoint") })
  }

  /// Traps, so that a debugger stops, when the signal fails.
  public func breakpointOnError() -> Signal<Element, Error> {
    breakpoint(receiveCompletion: { if case .failure = $0 { true } else { false } })
  }
}

extension SignalProtocol {
  /// Sends `true` to `listener` when a run starts, and `false` when it ends.
  public func feedActivity<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Bool {
    handleEvents(
      receiveSubscription: { listener.send(true) }, receiveCancel: { listener.send(false) })
  }

  /// Also sends each element to `listener`.
  public func feedNext<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Element {
    handleEvents(receiveOutput: { listener.send($0) })
  }

  /// Also sends `map` of each element to `listener`, if `when` returns `true` for the element.
  public func feedNext<Listener: SubjectProtocol>(
    into listener: Listener, when: @escaping (Element) -> Bool = { _ in true },
    map: @escaping (Element) -> Listener.Element
  ) -> Signal<Element, Error> {
    handleEvents(receiveOutput: { if when($0) { listener.send(map($0)) } })
  }

  /// Also sends the error of a failure to `listener`, as an element.
  public func feedError<Listener: SubjectProtocol>(
    into listener: Listener
  ) -> Signal<Element, Error> where Listener.Element == Error {
    handleEvents(receiveCompletion: {
      if case .failure(let error) = $0 { listener.send(error) }
    })
  }
}

extension SignalProtocol {
  /// Restarts the signal when the signal `other(element)` emits, for the newest element.
  ///
  /// It completes when the signal and the newest of the other signals have.
  public func `repeat`<Other: SignalProtocol>(
    when other: @escaping (Element) -> Other
  ) -> Signal<Element, Error> where Other.Error == Never {
    Signal { observer in
      let run = RepeatRun(observer)
      run.start(observe(with:), other)
      return run.disposables
    }
  }
}

/// One run of `repeat`.
private final class RepeatRun<Element, Error: Swift.Error> {
  let disposables: CompositeDisposable
  private let observer: AtomicObserver<Element, Error>
  private let outer = SerialDisposable(otherDisposable: nil)
  private let inner = SerialDisposable(otherDisposable: nil)
  private let trampoline = Trampoline()
  private var attempts = 0
  private var triggers = 0
  private var isOuterRunning = false
  private var isInnerRunning = false
  private let live = LiveNode("RepeatRun")

  init(_ observer: AtomicObserver<Element, Error>) {
    self.observer = observer
    disposables = CompositeDisposable([outer, inner])
  }

  func start<Other: SignalProtocol>(
    _ observe: @escaping (@escaping Observer<Element, Error>) -> any Disposable,
    _ other: @escaping (Element) -> Other
  ) where Other.Error == Never {
    attempts += 1
    isOuterRunning = true
    outer.otherDisposable?.dispose()
    trampoline.bounce { [self] in
      guard !observer.isDisposed else { return }
      let attempt = attempts
      let run = observe { [self] event in
        guard attempt == attempts else { return }
        switch event {
        case .next(let element):
          observer.receive(element)
          guard attempt == attempts, !observer.isDisposed else { return }
          wait(for: other(element)) { [self] in start(observe, other) }
        case .failed(let error): observer.fail(error)
        case .completed:
          isOuterRunning = false
          completeIfDone()
        }
      }
      if attempt == attempts { outer.otherDisposable = run } else { run.dispose() }
    }
  }

  private func wait<Other: SignalProtocol>(
    for other: Other, _ again: @escaping () -> Void
  ) where Other.Error == Never {
    triggers += 1
    let trigger = triggers
    isInnerRunning = true
    inner.otherDisposable?.dispose()
    let run = other.observe { [self] event in
      guard trigger == triggers else { return }
      if event.isNext {
        again()
      } else {
        isInnerRunning = false
        completeIfDone()
      }
    }
    if trigger == triggers { inner.otherDisposable = run } else { run.dispose() }
  }

  private func completeIfDone() {
    if !isOuterRunning, !isInnerRunning { observer.complete() }
  }
}
