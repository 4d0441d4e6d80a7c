extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Applies operators to the loaded values and turns their output into loading states.
  public func liftValue<NewValue>(
    _ transform: @escaping (Signal<LoadingValue, LoadingError>) -> Signal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    liftValue { transform($0).toLoadingSignal() }
  }

  /// Applies operators to the loaded values and emits the resulting states.
  ///
  /// `loading` and `failed` states bypass the operators.
  public func liftValue<NewValue>(
    _ transform:
      @escaping (Signal<LoadingValue, LoadingError>) -> LoadingSignal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    LoadingSignal<NewValue, LoadingError> { observer in
      let values = PassthroughSubject<LoadingValue, LoadingError>()
      let lifted = transform(values.toSignal()).observe(with: observer.on)
      let run = observe { event in
        switch event {
        case .next(let state):
          switch state.asLoadingState {
          case .loading: observer.receive(.loading)
          case .loaded(let value): values.send(value)
          case .failed(let error): observer.receive(.failed(error))
          }
        case .completed: values.on(.completed)
        }
      }
      return CompositeDisposable([lifted, run])
    }
  }

  /// Flattens the loading signals that `transform` returns for each loaded value.
  public func flatMapValue<NewValue>(
    _ strategy: FlattenStrategy = .latest,
    transform: @escaping (LoadingValue) -> LoadingSignal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    flatMap(strategy) { state -> LoadingSignal<NewValue, LoadingError> in
      switch state.asLoadingState {
      case .loading: .loading()
      case .loaded(let value): transform(value)
      case .failed(let error): Signal(just: .failed(error))
      }
    }
  }

  /// Flattens the loading signals that `transform` returns for each loaded value.
  public func flatMapValue<NewValue>(
    _ strategy: FlattenStrategy = .latest,
    transform: @escaping (LoadingValue) -> Signal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    flatMapValue(strategy) { transform($0).toLoadingSignal() }
  }
}
