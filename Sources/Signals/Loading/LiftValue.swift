extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Has operators work on the loaded values and makes loading states of what comes out.
  package func liftValue<NewValue>(
    _ transform: @escaping (Signal<LoadingValue, LoadingError>) -> Signal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    liftValue { transform($0).toLoadingSignal() }
  }

  /// Has operators work on the loaded values and tells the states that come out.
  ///
  /// That it is loading, or that loading failed, passes by.
  package func liftValue<NewValue>(
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

  /// Loads what `transform` makes of each loaded value.
  package func flatMapValue<NewValue>(
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

  /// Loads what `transform` makes of each loaded value.
  package func flatMapValue<NewValue>(
    _ strategy: FlattenStrategy = .latest,
    transform: @escaping (LoadingValue) -> Signal<NewValue, LoadingError>
  ) -> LoadingSignal<NewValue, LoadingError> {
    flatMapValue(strategy) { transform($0).toLoadingSignal() }
  }
}
