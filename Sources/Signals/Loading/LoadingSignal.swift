/// A signal of loading states; a loading failure does not end it.
public typealias LoadingSignal<LoadingValue, LoadingError: Error> =
  SafeSignal<LoadingState<LoadingValue, LoadingError>>

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  public typealias LoadingValue = Element.LoadingValue
  public typealias LoadingError = Element.LoadingError

  /// Returns a signal that emits `loading` and completes.
  public static func loading() -> LoadingSignal<LoadingValue, LoadingError> {
    Signal(just: .loading)
  }

  /// Returns a signal that emits a loaded value and completes.
  public static func loaded(_ value: LoadingValue) -> LoadingSignal<LoadingValue, LoadingError> {
    Signal(just: .loaded(value))
  }

  /// Returns a signal that emits a loading failure and completes.
  public static func failed(_ error: LoadingError) -> LoadingSignal<LoadingValue, LoadingError> {
    Signal(just: .failed(error))
  }

  /// Emits only the loaded values.
  public func value() -> SafeSignal<LoadingValue> {
    compactMap(\.value)
  }

  /// Emits the states with `transform` applied to each value.
  public func mapValue<NewValue>(
    _ transform: @escaping (LoadingValue) -> NewValue
  ) -> LoadingSignal<NewValue, LoadingError> {
    map { state in
      switch state.asLoadingState {
      case .loading: .loading
      case .loaded(let value): .loaded(transform(value))
      case .failed(let error): .failed(error)
      }
    }
  }

  /// Emits the states with `transform` applied to each error.
  public func mapLoadingError<NewError>(
    _ transform: @escaping (LoadingError) -> NewError
  ) -> LoadingSignal<LoadingValue, NewError> {
    map { state in
      switch state.asLoadingState {
      case .loading: .loading
      case .loaded(let value): .loaded(value)
      case .failed(let error): .failed(transform(error))
      }
    }
  }

  /// Emits the loaded values; fails with the first loading failure.
  public func dematerializeLoadingState() -> Signal<LoadingValue, LoadingError> {
    Signal<LoadingValue, LoadingError> { observer in
      observe { event in
        switch event {
        case .next(let state):
          switch state.asLoadingState {
          case .loading: break
          case .loaded(let value): observer.receive(value)
          case .failed(let error): observer.fail(error)
          }
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Emits `loading`, then each element as `loaded`, and a failure as the last state.
  public func toLoadingSignal() -> LoadingSignal<Element, Error> {
    LoadingSignal<Element, Error> { observer in
      observer.receive(.loading)
      return observe { event in
        switch event {
        case .next(let element): observer.receive(.loaded(element))
        case .failed(let error): observer.receive(lastElement: .failed(error))
        case .completed: observer.complete()
        }
      }
    }
  }
}
