extension SignalProtocol {
  /// Emits each element with the previous one, which is `nil` for the first.
  @inlinable
  public func zipPrevious() -> Signal<(Element?, Element), Error> {
    Signal.passing { observer in
      var previous: Element?
      return observe { event in
        switch event {
        case .next(let element):
          let pair = (previous, element)
          previous = element
          observer(.next(pair))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits each element with the previous one, starting with the second element.
  @inlinable
  public func pairwise() -> Signal<(Element, Element), Error> {
    zipPrevious().compactMap { previous, element in previous.map { ($0, element) } }
  }
}
