/// A value that is loaded when the first observer subscribes, and then kept.
public final class LoadingProperty<LoadingValue, LoadingError: Error>: PropertyProtocol,
  SignalProtocol, DisposeBagProvider
{
  public typealias Element = LoadingState<LoadingValue, LoadingError>
  public typealias Error = Never

  private let load: () -> LoadingSignal<LoadingValue, LoadingError>
  private let state = Property<Element>(.loading)
  private var loading: (any Disposable)?

  /// - Parameter signalProducer: Returns the signal that loads the value. Called for each load.
  public init(_ signalProducer: @escaping () -> LoadingSignal<LoadingValue, LoadingError>) {
    load = signalProducer
  }

  deinit {
    loading?.dispose()
  }

  public var bag: DisposeBag { state.bag }

  /// The current loading state; `loading` before the first observer.
  public var loadingState: Element { state.value }

  /// The loaded value, or `nil` if there is none; setting `nil` sets the state to `loading`.
  public var value: LoadingValue? {
    get { loadingState.value }
    set { state.value = newValue.map { .loaded($0) } ?? .loading }
  }

  public func observe(with observer: @escaping Observer<Element, Never>) -> any Disposable {
    if loadingState.isLoading, loading == nil {
      let run = SerialDisposable(otherDisposable: nil)
      loading = run
      run.otherDisposable = load().observe { [weak self] event in
        switch event {
        case .next(let state): if !state.isLoading { self?.state.value = state }
        case .completed: self?.loading = nil
        }
      }
    }
    return state.observe(with: observer)
  }

  /// Returns a signal that reloads the value in each run and emits the states.
  ///
  /// - Parameter silently: Whether the property takes only loaded values, and not the other states.
  public func reload(silently: Bool = true) -> LoadingSignal<LoadingValue, LoadingError> {
    LoadingSignal<LoadingValue, LoadingError> { [self] observer in
      if !silently { state.value = .loading }
      observer.receive(.loading)
      return load().observe { [self] event in
        switch event {
        case .next(let state):
          if state.value != nil || (!silently && !state.isLoading) { self.state.value = state }
          observer.receive(state)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Emits each element after reloading a property for it; fails if reloading fails.
  public func reloading<LoadingValue>(
    _ property: LoadingProperty<LoadingValue, Error>
  ) -> Signal<Element, Error> {
    flatMapLatest { (element: Element) -> Signal<Element, Error> in
      property.reload().dematerializeLoadingState().map { _ in element }
    }
  }
}

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Emits each value after reloading a property for it.
  public func reloading<Value>(
    _ property: LoadingProperty<Value, LoadingError>, strategy: FlattenStrategy = .latest
  ) -> LoadingSignal<LoadingValue, LoadingError> {
    flatMapValue(strategy) { (value: LoadingValue) -> LoadingSignal<LoadingValue, LoadingError> in
      property.reload().mapValue { _ in value }
    }
  }
}
