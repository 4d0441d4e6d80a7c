extension SignalProtocol {
  /// Replaces the error of a failure with the result of `transform`.
  @inlinable
  public func mapError<Other: Swift.Error>(
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
  /// Returns the signal with another error type.
  ///
  /// Operators on two signals require equal error types. This one adapts a signal that cannot fail.
  @inlinable
  public func castError<Failure: Swift.Error>() -> Signal<Element, Failure> {
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
