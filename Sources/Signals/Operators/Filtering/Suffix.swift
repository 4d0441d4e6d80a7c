extension SignalProtocol {
  /// Emits at the end the last `maxLength` elements.
  @inlinable
  package func suffix(maxLength: Int) -> Signal<Element, Error> {
    Signal { observer in
      var last = Queue<Element>()
      return observe { event in
        switch event {
        case .next(let element):
          last.append(element)
          if last.count > maxLength { _ = last.popFirst() }
        case .failed(let error): observer.fail(error)
        case .completed:
          while !observer.isDisposed, let element = last.popFirst() { observer.receive(element) }
          observer.complete()
        }
      }
    }
  }

  /// Emits at the end the last element.
  @inlinable
  package func last() -> Signal<Element, Error> {
    suffix(maxLength: 1)
  }
}
