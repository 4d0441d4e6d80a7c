extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Emits the states as they are seen: loading again is reloading, and told once.
  ///
  /// - Parameter loadsAgainOnFailure: Whether loading after a failure is loading, not reloading.
  package func deriveObservedLoadingState(
    loadsAgainOnFailure: Bool = true
  ) -> SafeSignal<ObservedLoadingState<LoadingValue, LoadingError>> {
    Signal.passing { observer in
      var wasLoading = false
      var reloads = false
      return observe { event in
        switch event {
        case .next(let state):
          let state = state.asLoadingState
          let isRepeated = wasLoading && state.isLoading
          wasLoading = state.isLoading
          switch state {
          case .loading: if !isRepeated { observer(.next(reloads ? .reloading : .loading)) }
          case .loaded(let value):
            reloads = true
            observer(.next(.loaded(value)))
          case .failed(let error):
            reloads = !loadsAgainOnFailure
            observer(.next(.failed(error)))
          }
        case .completed: observer(.completed)
        }
      }
    }
  }
}
