extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Emits observed states: loading after a value becomes `reloading`, and repeated loading is
  /// dropped.
  ///
  /// - Parameter loadsAgainOnFailure: Whether loading after a failure is `loading` instead of
  ///   `reloading`.
  public func deriveObservedLoadingState(
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
