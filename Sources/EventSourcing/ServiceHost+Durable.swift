internal import Model
package import Signals

extension ServiceHost {
  /// Emits each value of a signal once all events recorded before the value are durable.
  ///
  /// Initial values are emitted at once. A waiting value is dropped when a later value waits for
  /// the same or an earlier position: it was an intermediate state, or its events were rolled
  /// back.
  package func whenDurable<Value>(_ values: SafeSignal<Value>) -> SafeSignal<Value> {
    Signal { [self] observer in
      var waiting = Queue<(position: UInt64, value: Value)>()
      var isStarting = true
      let bag = DisposeBag()
      progress.observeNext { durable in
        while let first = waiting.first, first.position <= durable {
          _ = waiting.popFirst()
          observer.receive(first.value)
        }
      }
      .dispose(in: bag)
      values.observe { [self] event in
        switch event {
        case .next(let value):
          let position = isStarting ? durable : last
          while let last = waiting.last, last.position >= position { _ = waiting.popLast() }
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
