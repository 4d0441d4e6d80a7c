extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of all inner signals in the order of arrival.
  ///
  /// The cost of an inner signal does not depend on their number.
  @inlinable
  public func merge() -> Signal<Element.Element, Error> {
    Signal { observer in
      let runs = CompositeDisposable()
      var open = 1  // counts the outer signal too
      func completeOne() {
        open -= 1
        if open == 0 { observer.complete() }
      }
      runs.add(
        disposable: observe { event in
          switch event {
          case .next(let inner):
            open += 1
            runs.add(
              disposable: inner.observe { event in
                switch event {
                case .next(let element): observer.receive(element)
                case .failed(let error): observer.fail(error)
                case .completed: completeOne()
                }
              })
          case .failed(let error): observer.fail(error)
          case .completed: completeOne()
          }
        })
      return runs
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of all inner signals in the order of arrival.
  @inlinable
  @_disfavoredOverload
  public func merge() -> Signal<Element.Element, Element.Error> {
    flatten(.merge)
  }
}
