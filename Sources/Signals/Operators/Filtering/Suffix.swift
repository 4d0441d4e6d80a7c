public import Facts

extension SignalProtocol {
  /// Emits the last `maxLength` elements at completion.
  @inlinable
  public func suffix(maxLength: Int) -> Signal<Element, Error> {
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

  /// Emits the last element at completion.
  @inlinable
  public func last() -> Signal<Element, Error> {
    suffix(maxLength: 1)
  }
}
