internal import Facts

extension SignalProtocol {
  /// Emits the combination of the elements at the same position of both signals.
  ///
  /// It completes when one signal has completed and all its elements are used.
  public func zip<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Error {
    Signal { observer in
      let run = ZipRun<Element, Other.Element, Output, Error>(observer, combine)
      run.disposables.add(disposable: observe(with: run.receiveFirst))
      guard !observer.isDisposed else { return run.disposables }
      run.disposables.add(disposable: other.observe(with: run.receiveSecond))
      return run.disposables
    }
  }

  /// Emits the elements at the same position of both signals.
  public func zip<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Error {
    zip(with: other) { ($0, $1) }
  }

  /// Emits the combination of the elements at the same position of both signals.
  @_disfavoredOverload
  public func zip<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Never {
    zip(with: other.castError() as Signal<Other.Element, Error>, combine: combine)
  }

  /// Emits the elements at the same position of both signals.
  @_disfavoredOverload
  public func zip<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Never {
    zip(with: other.castError() as Signal<Other.Element, Error>) { ($0, $1) }
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the combination of the elements at the same position of both signals.
  @_disfavoredOverload
  public func zip<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Other.Error> {
    (castError() as Signal<Element, Other.Error>).zip(with: other, combine: combine)
  }

  /// Emits the elements at the same position of both signals.
  @_disfavoredOverload
  public func zip<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Other.Error> {
    (castError() as Signal<Element, Other.Error>).zip(with: other) { ($0, $1) }
  }
}

/// One run of `zip`, with the elements that still lack a counterpart.
private final class ZipRun<First, Second, Output, Error: Swift.Error> {
  let disposables = CompositeDisposable()
  private let observer: AtomicObserver<Output, Error>
  private let combine: (First, Second) -> Output
  private let trampoline = Trampoline()
  private var first = Queue<First>()
  private var second = Queue<Second>()
  private var isFirstComplete = false
  private var isSecondComplete = false
  private let live = LiveNode("ZipRun")

  init(_ observer: AtomicObserver<Output, Error>, _ combine: @escaping (First, Second) -> Output) {
    self.observer = observer
    self.combine = combine
  }

  func receiveFirst(_ event: Signal<First, Error>.Event) {
    switch event {
    case .next(let element): first.append(element)
    case .failed(let error): return observer.fail(error)
    case .completed: isFirstComplete = true
    }
    emit()
  }

  func receiveSecond(_ event: Signal<Second, Error>.Event) {
    switch event {
    case .next(let element): second.append(element)
    case .failed(let error): return observer.fail(error)
    case .completed: isSecondComplete = true
    }
    emit()
  }

  private func emit() {
    trampoline.bounce { [self] in
      // Take both before the call, which may re-enter.
      while !first.isEmpty, !second.isEmpty, !observer.isDisposed,
        let a = first.popFirst(), let b = second.popFirst()
      {
        observer.receive(combine(a, b))
      }
      if (first.isEmpty && isFirstComplete) || (second.isEmpty && isSecondComplete) {
        observer.complete()
      }
    }
  }
}
