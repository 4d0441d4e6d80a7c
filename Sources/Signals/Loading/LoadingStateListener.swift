/// Who shows what loading something has come to, for example a view with a spinner.
package protocol LoadingStateListener: AnyObject {
  /// Shows a state.
  func setLoadingState<LoadingValue, LoadingError>(
    _ state: ObservedLoadingState<LoadingValue, LoadingError>)

  /// Whether it is told for as long as it lives, and not kept alive to be told.
  var loadingStateListenerNeedsWeakReference: Bool { get }
}

extension LoadingStateListener {
  package var loadingStateListenerNeedsWeakReference: Bool { true }
}

extension SignalProtocol where Element: ObservedLoadingStateProtocol, Error == Never {
  /// Has a listener show each state before it is emitted.
  package func updateLoadingState(
    of listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> SafeSignal<ObservedLoadingState<LoadingValue, LoadingError>> {
    let strong = listener.loadingStateListenerNeedsWeakReference ? nil : listener
    return Signal { [weak listener] observer in
      observe { [weak listener] event in
        switch event {
        case .next(let state):
          let state = state.asObservedLoadingState
          if let listener = strong ?? listener {
            context.execute { listener.setLoadingState(state) }
          }
          observer.receive(state)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Has a listener show each state, and emits the values only.
  package func consumeLoadingState(
    by listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> SafeSignal<LoadingValue> {
    updateLoadingState(of: listener, context: context).value()
  }
}

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Has a listener show each state, as it is seen, before it is emitted.
  @_disfavoredOverload
  package func updateLoadingState(
    of listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> LoadingSignal<LoadingValue, LoadingError> {
    deriveObservedLoadingState().updateLoadingState(of: listener, context: context)
      .map(\.asLoadingState)
  }

  /// Has a listener show each state, as it is seen, and emits the values only.
  @_disfavoredOverload
  package func consumeLoadingState(
    by listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> SafeSignal<LoadingValue> {
    deriveObservedLoadingState().consumeLoadingState(by: listener, context: context)
  }
}
