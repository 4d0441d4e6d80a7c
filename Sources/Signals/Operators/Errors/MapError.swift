extension SignalProtocol {
  /// Turns a failure into another.
  @inlinable
  package func mapError<Other: Swift.Error>(
    _ transform: @escaping (Error) -> Other
  ) -> Signal<Element, Other> {
    Signal<Element, Other>.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(element))
        case .failed(let error): observer(.failed(transform(error)))
        case .completed: observer(.completed)
        }
      }
    }
  }
}

extension SignalProtocol where Error == Never {
  /// The same as a signal that could fail: the one rule by which errors join.
  ///
  /// Operators over two signals want both to fail alike; a signal that cannot fail joins any.
  @inlinable
  package func castError<Failure: Swift.Error>() -> Signal<Element, Failure> {
    Signal<Element, Failure>.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(element))
        case .completed: observer(.completed)
        }
      }
    }
  }
}
