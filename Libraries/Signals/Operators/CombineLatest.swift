extension SignalProtocol {
  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  ///
  /// It completes when both signals have, or when one completes without an element.
  public func combineLatest<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Error {
    Signal { observer in
      var mine: Element?
      var others: Other.Element?
      var open = 2
      let runs = CompositeDisposable()
      runs.add(
        disposable: observe { event in
          switch event {
          case .next(let element):
            mine = element
            if let others { observer.receive(combine(element, others)) }
          case .failed(let error): observer.fail(error)
          case .completed:
            open -= 1
            if open == 0 || mine == nil { observer.complete() }
          }
        })
      guard !observer.isDisposed else { return runs }
      runs.add(
        disposable: other.observe { event in
          switch event {
          case .next(let element):
            others = element
            if let mine { observer.receive(combine(mine, element)) }
          case .failed(let error): observer.fail(error)
          case .completed:
            open -= 1
            if open == 0 || others == nil { observer.complete() }
          }
        })
      return runs
    }
  }

  /// Emits both newest elements whenever one signal emits, once both have.
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Error {
    combineLatest(with: other) { ($0, $1) }
  }

  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Never {
    combineLatest(with: other.castError() as Signal<Other.Element, Error>, combine: combine)
  }

  /// Emits both newest elements whenever one signal emits, once both have.
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Never {
    combineLatest(with: other.castError() as Signal<Other.Element, Error>) { ($0, $1) }
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Other.Error> {
    (castError() as Signal<Element, Other.Error>).combineLatest(with: other, combine: combine)
  }

  /// Emits both newest elements whenever one signal emits, once both have.
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Other.Error> {
    (castError() as Signal<Element, Other.Error>).combineLatest(with: other) { ($0, $1) }
  }
}

/// Emits the combination of the newest elements of two signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, Output
>(
  _ a: A, _ b: B,
  combine: @escaping (A.Element, B.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error {
  a.combineLatest(with: b, combine: combine)
}

/// Emits the newest elements of two signals whenever one of them emits.
public func combineLatest<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<(A.Element, B.Element), A.Error> where A.Error == B.Error {
  a.combineLatest(with: b)
}

/// Emits the combination of the newest elements of three signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C,
  combine: @escaping (A.Element, B.Element, C.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error {
  combineLatest(a, b).combineLatest(with: c) { combine($0.0, $0.1, $1) }
}

/// Emits the newest elements of three signals whenever one of them emits.
public func combineLatest<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<(A.Element, B.Element, C.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error {
  combineLatest(a, b).combineLatest(with: c) { ($0.0, $0.1, $1) }
}

/// Emits the combination of the newest elements of four signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  combineLatest(a, b, c).combineLatest(with: d) { combine($0.0, $0.1, $0.2, $1) }
}

/// Emits the newest elements of four signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<(A.Element, B.Element, C.Element, D.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  combineLatest(a, b, c).combineLatest(with: d) { ($0.0, $0.1, $0.2, $1) }
}

/// Emits the combination of the newest elements of five signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element) -> Output
) -> Signal<Output, A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  combineLatest(a, b, c, d).combineLatest(with: e) { combine($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the newest elements of five signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  combineLatest(a, b, c, d).combineLatest(with: e) { ($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the combination of the newest elements of six signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element) -> Output
) -> Signal<Output, A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  combineLatest(a, b, c, d, e).combineLatest(with: f) { combine($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}

/// Emits the newest elements of six signals whenever one of them emits.
public func combineLatest<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element, F.Element), A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  combineLatest(a, b, c, d, e).combineLatest(with: f) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}

extension SignalProtocol {
  /// Emits each element combined with the newest element of the other signal.
  ///
  /// It drops elements until the other signal has emitted, and completes only with this signal.
  public func with<Other: SignalProtocol, Output>(
    latestFrom other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Error {
    Signal { observer in
      var latest: Other.Element?
      let runs = CompositeDisposable()
      runs.add(
        disposable: other.observe { event in
          switch event {
          case .next(let element): latest = element
          case .failed(let error): observer.fail(error)
          case .completed: break
          }
        })
      guard !observer.isDisposed else { return runs }
      runs.add(
        disposable: observe { event in
          switch event {
          case .next(let element):
            if let latest { observer.receive(combine(element, latest)) }
          case .failed(let error): observer.fail(error)
          case .completed: observer.complete()
          }
        })
      return runs
    }
  }

  /// Emits each element with the newest element of the other signal.
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Error {
    with(latestFrom: other) { ($0, $1) }
  }

  /// Emits each element combined with the newest element of the other signal.
  @_disfavoredOverload
  public func with<Other: SignalProtocol, Output>(
    latestFrom other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Never {
    with(latestFrom: other.castError() as Signal<Other.Element, Error>, combine: combine)
  }

  /// Emits each element with the newest element of the other signal.
  @_disfavoredOverload
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Never {
    with(latestFrom: other.castError() as Signal<Other.Element, Error>) { ($0, $1) }
  }
}

extension SignalProtocol where Error == Never {
  /// Emits each element combined with the newest element of the other signal.
  @_disfavoredOverload
  public func with<Other: SignalProtocol, Output>(
    latestFrom other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Other.Error> {
    (castError() as Signal<Element, Other.Error>).with(latestFrom: other, combine: combine)
  }

  /// Emits each element with the newest element of the other signal.
  @_disfavoredOverload
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Other.Error> {
    (castError() as Signal<Element, Other.Error>).with(latestFrom: other) { ($0, $1) }
  }
}
