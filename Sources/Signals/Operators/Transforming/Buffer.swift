extension SignalProtocol {
  /// Emits the elements in arrays of `size`; drops an incomplete array at the end.
  @inlinable
  public func buffer(size: Int) -> Signal<[Element], Error> {
    precondition(size > 0, "a buffer of no elements")
    return Signal.passing { observer in
      var elements: [Element] = []
      return observe { event in
        switch event {
        case .next(let element):
          elements.append(element)
          guard elements.count == size else { return }
          let full = elements
          elements = []  // before the call, which may re-enter
          observer(.next(full))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits the elements in arrays of `size`; drops an incomplete array at the end.
  @inlinable
  public func buffer(ofSize size: Int) -> Signal<[Element], Error> {
    buffer(size: size)
  }

  /// Emits the elements in signals of `size`; drops an incomplete group at the end.
  @inlinable
  public func window(ofSize size: Int) -> Signal<Signal<Element, Error>, Error> {
    buffer(size: size).map { Signal(sequence: $0) }
  }
}
