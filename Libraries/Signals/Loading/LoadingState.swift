/// A state of something that is loaded.
public protocol LoadingStateProtocol<LoadingValue, LoadingError> {
  associatedtype LoadingValue
  associatedtype LoadingError: Error

  /// The state, without the distinction between loading and reloading.
  var asLoadingState: LoadingState<LoadingValue, LoadingError> { get }
}

extension LoadingStateProtocol {
  /// Whether the value is being loaded or reloaded.
  public var isLoading: Bool {
    if case .loading = asLoadingState { true } else { false }
  }

  /// The value if it is loaded, otherwise `nil`.
  public var value: LoadingValue? {
    if case .loaded(let value) = asLoadingState { value } else { nil }
  }

  /// The error if loading failed, otherwise `nil`.
  public var error: LoadingError? {
    if case .failed(let error) = asLoadingState { error } else { nil }
  }
}

/// The state of loading a value.
public enum LoadingState<LoadingValue, LoadingError: Error>: LoadingStateProtocol {
  case loading
  case loaded(LoadingValue)
  case failed(LoadingError)

  /// The state itself.
  public var asLoadingState: LoadingState { self }

  /// Returns whether the other state is the same case, regardless of value and error.
  public func isSameStateAs<OtherValue, OtherError>(
    _ other: LoadingState<OtherValue, OtherError>
  ) -> Bool {
    switch (self, other) {
    case (.loading, .loading), (.loaded, .loaded), (.failed, .failed): true
    case (.loading, _), (.loaded, _), (.failed, _): false
    }
  }
}

extension LoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}

/// A loading state that depends on the states before it.
public protocol ObservedLoadingStateProtocol<LoadingValue, LoadingError>: LoadingStateProtocol {
  /// The state, with the distinction between loading and reloading.
  var asObservedLoadingState: ObservedLoadingState<LoadingValue, LoadingError> { get }
}

extension ObservedLoadingStateProtocol {
  /// Whether the value is being reloaded.
  public var isReloading: Bool {
    if case .reloading = asObservedLoadingState { true } else { false }
  }
}

/// The state of loading a value, with the distinction between loading and reloading.
public enum ObservedLoadingState<LoadingValue, LoadingError: Error>: ObservedLoadingStateProtocol {
  case loading
  case reloading
  case loaded(LoadingValue)
  case failed(LoadingError)

  /// The state, with reloading as loading.
  public var asLoadingState: LoadingState<LoadingValue, LoadingError> {
    switch self {
    case .loading, .reloading: .loading
    case .loaded(let value): .loaded(value)
    case .failed(let error): .failed(error)
    }
  }

  /// The state itself.
  public var asObservedLoadingState: ObservedLoadingState { self }
}

extension ObservedLoadingState: Equatable where LoadingValue: Equatable, LoadingError: Equatable {}

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

/// An object that presents loading states, for example a view with a spinner.
public protocol LoadingStateListener: AnyObject {
  /// Presents a state.
  func setLoadingState<LoadingValue, LoadingError>(
    _ state: ObservedLoadingState<LoadingValue, LoadingError>)

  /// Whether runs keep only a weak reference to the listener; `true` by default.
  var loadingStateListenerNeedsWeakReference: Bool { get }
}

extension LoadingStateListener {
  /// Whether runs keep only a weak reference to the listener; `true` by default.
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
