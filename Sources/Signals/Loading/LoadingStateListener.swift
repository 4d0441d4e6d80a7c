/// An object that presents loading states, for example a view with a spinner.
public protocol LoadingStateListener: AnyObject {
  /// Presents a state.
  func setLoadingState<LoadingValue, LoadingError>(
    _ state: ObservedLoadingState<LoadingValue, LoadingError>)

  /// Whether runs keep only a weak reference to the listener; `true` by default.
  var loadingStateListenerNeedsWeakReference: Bool { get }
}

extension LoadingStateListener {
  public var loadingStateListenerNeedsWeakReference: Bool { true }
}

extension SignalProtocol where Element: ObservedLoadingStateProtocol, Error == Never {
  /// Passes each state to a listener, then emits it.
  public func updateLoadingState(
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

  /// Passes each state to a listener, and emits only the values.
  public func consumeLoadingState(
    by listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> SafeSignal<LoadingValue> {
    updateLoadingState(of: listener, context: context).value()
  }
}

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Derives the observed states, passes each to a listener, then emits it.
  @_disfavoredOverload
  public func updateLoadingState(
    of listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> LoadingSignal<LoadingValue, LoadingError> {
    deriveObservedLoadingState().updateLoadingState(of: listener, context: context)
      .map(\.asLoadingState)
  }

  /// Derives the observed states, passes each to a listener, and emits only the values.
  @_disfavoredOverload
  public func consumeLoadingState(
    by listener: any LoadingStateListener, context: ExecutionContext = .immediate
  ) -> SafeSignal<LoadingValue> {
    deriveObservedLoadingState().consumeLoadingState(by: listener, context: context)
  }
}
