extension SignalProtocol {
  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  ///
  /// It completes when both signals have, or when one completes without an element.
  @inlinable
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
  @inlinable
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Error {
    combineLatest(with: other) { ($0, $1) }
  }

  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  @inlinable
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Never {
    combineLatest(with: other.castError() as Signal<Other.Element, Error>, combine: combine)
  }

  /// Emits both newest elements whenever one signal emits, once both have.
  @inlinable
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Never {
    combineLatest(with: other.castError() as Signal<Other.Element, Error>) { ($0, $1) }
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the combination of both newest elements whenever one signal emits, once both have.
  @inlinable
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Other.Error> {
    (castError() as Signal<Element, Other.Error>).combineLatest(with: other, combine: combine)
  }

  /// Emits both newest elements whenever one signal emits, once both have.
  @inlinable
  @_disfavoredOverload
  public func combineLatest<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<(Element, Other.Element), Other.Error> {
    (castError() as Signal<Element, Other.Error>).combineLatest(with: other) { ($0, $1) }
  }
}
