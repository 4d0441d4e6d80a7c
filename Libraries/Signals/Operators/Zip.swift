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

/// Emits the combination of the elements at the same position of two signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, Output
>(
  _ a: A, _ b: B,
  combine: @escaping (A.Element, B.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error {
  a.zip(with: b, combine: combine)
}

/// Emits the elements at the same position of two signals.
public func zip<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<(A.Element, B.Element), A.Error> where A.Error == B.Error {
  a.zip(with: b)
}

/// Emits the combination of the elements at the same position of three signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C,
  combine: @escaping (A.Element, B.Element, C.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error {
  zip(a, b).zip(with: c) { combine($0.0, $0.1, $1) }
}

/// Emits the elements at the same position of three signals.
public func zip<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<(A.Element, B.Element, C.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error {
  zip(a, b).zip(with: c) { ($0.0, $0.1, $1) }
}

/// Emits the combination of the elements at the same position of four signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  zip(a, b, c).zip(with: d) { combine($0.0, $0.1, $0.2, $1) }
}

/// Emits the elements at the same position of four signals.
public func zip<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<(A.Element, B.Element, C.Element, D.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  zip(a, b, c).zip(with: d) { ($0.0, $0.1, $0.2, $1) }
}

/// Emits the combination of the elements at the same position of five signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element) -> Output
) -> Signal<Output, A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  zip(a, b, c, d).zip(with: e) { combine($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the elements at the same position of five signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  zip(a, b, c, d).zip(with: e) { ($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the combination of the elements at the same position of six signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element) -> Output
) -> Signal<Output, A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  zip(a, b, c, d, e).zip(with: f) { combine($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}

/// Emits the elements at the same position of six signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element, F.Element), A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  zip(a, b, c, d, e).zip(with: f) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}
