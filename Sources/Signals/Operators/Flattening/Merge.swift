extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of all signals as they come; the last costs what the first costs.
  @inlinable
  package func merge() -> Signal<Element.Element, Error> {
    Signal { observer in
      let runs = CompositeDisposable()
      var open = 1  // this signal itself
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
  /// Emits the elements of all signals as they come.
  @inlinable
  @_disfavoredOverload
  package func merge() -> Signal<Element.Element, Element.Error> {
    flatten(.merge)
  }
}
