extension SignalProtocol {
  /// Emits each element combined with the newest element of the other signal.
  ///
  /// It drops elements until the other signal has emitted, and completes only with this signal.
  @inlinable
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
  @inlinable
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Error {
    with(latestFrom: other) { ($0, $1) }
  }

  /// Emits each element combined with the newest element of the other signal.
  @inlinable
  @_disfavoredOverload
  public func with<Other: SignalProtocol, Output>(
    latestFrom other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Error> where Other.Error == Never {
    with(latestFrom: other.castError() as Signal<Other.Element, Error>, combine: combine)
  }

  /// Emits each element with the newest element of the other signal.
  @inlinable
  @_disfavoredOverload
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Error> where Other.Error == Never {
    with(latestFrom: other.castError() as Signal<Other.Element, Error>) { ($0, $1) }
  }
}

extension SignalProtocol where Error == Never {
  /// Emits each element combined with the newest element of the other signal.
  @inlinable
  @_disfavoredOverload
  public func with<Other: SignalProtocol, Output>(
    latestFrom other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> Signal<Output, Other.Error> {
    (castError() as Signal<Element, Other.Error>).with(latestFrom: other, combine: combine)
  }

  /// Emits each element with the newest element of the other signal.
  @inlinable
  @_disfavoredOverload
  public func with<Other: SignalProtocol>(
    latestFrom other: Other
  ) -> Signal<(Element, Other.Element), Other.Error> {
    (castError() as Signal<Element, Other.Error>).with(latestFrom: other) { ($0, $1) }
  }
}
