package import Signals

extension ServiceHost {
  /// Emits each value of a state once all is durable that was recorded when it came.
  ///
  /// What there is at the beginning is emitted at once. Of the values that wait, one is left out
  /// when another comes that is durable no later: it was a step on the way there, or what it showed
  /// was taken back.
  package func whenDurable<Value>(_ values: SafeSignal<Value>) -> SafeSignal<Value> {
    Signal { [self] observer in
      var waiting: [(position: UInt64, value: Value)] = []
      var isStarting = true
      let bag = DisposeBag()
      progress.observeNext { durable in
        while let first = waiting.first, first.position <= durable {
          waiting.removeFirst()
          observer.receive(first.value)
        }
      }
      .dispose(in: bag)
      values.observe { [self] event in
        switch event {
        case .next(let value):
          let position = isStarting ? durable : last
          waiting.removeAll { $0.position >= position }
          guard position > durable else { return observer.receive(value) }
          waiting.append((position, value))
        case .completed: observer.complete()
        }
      }
      .dispose(in: bag)
      isStarting = false
      return bag
    }
  }
}
