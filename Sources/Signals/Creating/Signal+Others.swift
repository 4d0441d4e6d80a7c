extension Signal {
  /// Runs the signal that `makeSignal` returns; each run makes its own.
  package init<Other: SignalProtocol>(
    deferring makeSignal: @escaping () -> Other
  ) where Other.Element == Element, Other.Error == Error {
    self = .passing { makeSignal().observe(with: $0) }
  }

  /// Runs another signal.
  package init<Other: SignalProtocol>(
    takingOver other: Other
  ) where Other.Element == Element, Other.Error == Error {
    self = other.toSignal()
  }

  /// Runs another signal, which cannot fail.
  @_disfavoredOverload
  package init<Other: SignalProtocol>(
    takingOver other: Other
  ) where Other.Element == Element, Other.Error == Never {
    self = other.castError()
  }

  /// Emits the elements of many signals; it fails with the first that fails.
  package init<Signals: Sequence>(
    flattening signals: Signals, strategy: FlattenStrategy
  )
  where
    Signals.Element: SignalProtocol, Signals.Element.Element == Element,
    Signals.Element.Error == Error
  {
    self = Signal<Signals.Element, Error>(sequence: signals).flatten(strategy)
  }

  /// Emits what `combine` makes of the newest elements of all signals, when each has emitted one.
  ///
  /// - Parameter combine: Is given as many elements as there are signals, in their order.
  package init<Signals: Collection>(
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

  /// A signal and who tells its observers.
  package static func withObserver() -> (Signal, AnyObserver<Element, Error>) {
    let subject = PassthroughSubject<Element, Error>()
    return (subject.toSignal(), AnyObserver(observer: subject.on))
  }
}
