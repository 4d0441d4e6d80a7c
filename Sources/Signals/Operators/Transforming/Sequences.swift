extension SignalProtocol {
  /// Emits each element of the arrays that `transform` returns.
  @inlinable
  public func flatMap<Output>(
    _ transform: @escaping (Element) -> [Output]
  ) -> Signal<Output, Error> {
    map(transform).flattenElements()
  }
}

extension SignalProtocol where Element: Sequence {
  /// Emits each sequence with `transform` applied to its elements.
  @inlinable
  public func mapElement<Output>(
    _ transform: @escaping (Element.Element) -> Output
  ) -> Signal<[Output], Error> {
    map { $0.map(transform) }
  }

  /// Emits each element of each sequence.
  @inlinable
  public func flattenElements() -> Signal<Element.Element, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let elements):
          for element in elements {
            guard !observer.isDisposed else { break }
            observer.receive(element)
          }
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}
