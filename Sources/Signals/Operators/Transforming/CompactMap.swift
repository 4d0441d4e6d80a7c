extension SignalProtocol {
  /// Emits `transform` of each element, and drops `nil` results.
  @inlinable
  public func compactMap<Output>(
    _ transform: @escaping (Element) -> Output?
  ) -> Signal<Output, Error> {
    Signal.passing { observer in
      observe { event in
        switch event {
        case .next(let element):
          if let output = transform(element) { observer(.next(output)) }
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }
}
