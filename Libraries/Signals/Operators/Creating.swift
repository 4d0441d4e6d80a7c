extension Signal {
  /// Creates a signal that emits one element and completes.
  public init(just element: Element) {
    self.init(performing: { element })
  }

  /// Creates a signal that emits the result of `body` and completes; each run calls `body`.
  public init(performing body: @escaping () -> Element) {
    self.init { observer in
      observer.receive(lastElement: body())
      return NonDisposable.instance
    }
  }

  /// Creates a signal that emits the success of a result and completes, or fails with its error.
  public init(result: Result<Element, Error>) {
    self.init(evaluating: { result })
  }

  /// Creates a signal that emits the success of `body` or fails; each run calls `body`.
  public init(evaluating body: @escaping () -> Result<Element, Error>) {
    self.init { observer in
      switch body() {
      case .success(let element): observer.receive(lastElement: element)
      case .failure(let error): observer.fail(error)
      }
      return NonDisposable.instance
    }
  }

  /// Creates a signal that emits each element of a sequence and completes.
  public init<Elements: Sequence<Element>>(sequence: Elements) {
    self.init { observer in
      for element in sequence {
        guard !observer.isDisposed else { break }
        observer.receive(element)
      }
      observer.complete()
      return NonDisposable.instance
    }
  }
}

extension Signal where Error == any Swift.Error {
  /// Creates a signal that emits the result of `body`, or fails with its error.
  ///
  /// Each run calls `body`.
  public init(catching body: @escaping () throws -> Element) {
    self.init(evaluating: { Result(catching: body) })
  }
}

extension Signal {
  /// Returns a signal that completes at once.
  public static func completed() -> Signal {
    Signal { observer in
      observer.complete()
      return NonDisposable.instance
    }
  }

  /// Returns a signal that fails at once.
  public static func failed(_ error: Error) -> Signal {
    Signal { observer in
      observer.fail(error)
      return NonDisposable.instance
    }
  }

  /// Returns a signal that emits nothing and never ends.
  public static func never() -> Signal {
    Signal { _ in NonDisposable.instance }
  }
}

extension Signal {
  /// Creates a signal that runs the signal returned by `makeSignal`; each run calls `makeSignal`.
  public init<Other: SignalProtocol>(
    deferring makeSignal: @escaping () -> Other
  ) where Other.Element == Element, Other.Error == Error {
    self = .passing { makeSignal().observe(with: $0) }
  }

  /// Creates a signal that runs another signal.
  public init<Other: SignalProtocol>(
    takingOver other: Other
  ) where Other.Element == Element, Other.Error == Error {
    self = other.toSignal()
  }

  /// Creates a signal that runs another signal, which cannot fail.
  @_disfavoredOverload
  public init<Other: SignalProtocol>(
    takingOver other: Other
  ) where Other.Element == Element, Other.Error == Never {
    self = other.castError()
  }

  /// Creates a signal that flattens a sequence of signals; it fails with the first failure.
  public init<Signals: Sequence>(
    flattening signals: Signals, strategy: FlattenStrategy
  )
  where
    Signals.Element: SignalProtocol, Signals.Element.Element == Element,
    Signals.Element.Error == Error
  {
    self = Signal<Signals.Element, Error>(sequence: signals).flatten(strategy)
  }

  /// Creates a signal that combines the newest elements of all signals, once each has emitted one.
  ///
  /// - Parameter combine: Receives one element for each signal, in the order of the signals.
  public init<Signals: Collection>(
    combiningLatest signals: Signals,
    combine: @escaping (_ elements: [Signals.Element.Element]) -> Element
  ) where Signals.Element: SignalProtocol, Signals.Element.Error == Error {
    self.init { observer in
      var latest = [Signals.Element.Element?](repeating: nil, count: signals.count)
      var missing = signals.count
      var open = signals.count
      guard open > 0 else {
        observer.complete()
        return NonDisposable.instance
      }
      let runs = CompositeDisposable()
      for (i, signal) in signals.enumerated() where !observer.isDisposed {
        runs += signal.observe { event in
          switch event {
          case .next(let element):
            if latest[i] == nil { missing -= 1 }
            latest[i] = .some(element)
            if missing == 0 { observer.receive(combine(latest.compactMap(\.self))) }
          case .failed(let error):
            observer.fail(error)
          case .completed:
            open -= 1
            if open == 0 || latest[i] == nil { observer.complete() }
          }
        }
      }
      return runs
    }
  }

  /// Returns a signal and an observer that sends events to it.
  public static func withObserver() -> (Signal, AnyObserver<Element, Error>) {
    let subject = PassthroughSubject<Element, Error>()
    return (subject.toSignal(), AnyObserver(observer: subject.on))
  }
}
