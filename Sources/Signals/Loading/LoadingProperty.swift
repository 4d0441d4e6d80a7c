/// A value that is loaded when somebody observes it for the first time, and kept.
package final class LoadingProperty<LoadingValue, LoadingError: Error>: PropertyProtocol,
  SignalProtocol, DisposeBagProvider
{
  package typealias Element = LoadingState<LoadingValue, LoadingError>
  package typealias Error = Never

  private let load: () -> LoadingSignal<LoadingValue, LoadingError>
  private let state = Property<Element>(.loading)
  private var loading: (any Disposable)?

  /// - Parameter signalProducer: Called when the value is to be loaded.
  package init(_ signalProducer: @escaping () -> LoadingSignal<LoadingValue, LoadingError>) {
    load = signalProducer
  }

  deinit {
    loading?.dispose()
  }

  package var bag: DisposeBag { state.bag }

  /// What loading has come to: before the first observer, loading.
  package var loadingState: Element { state.value }

  /// The value, when it is loaded; set to `nil`, it counts as loading.
  package var value: LoadingValue? {
    get { loadingState.value }
    set { state.value = newValue.map { .loaded($0) } ?? .loading }
  }

  package func observe(with observer: @escaping Observer<Element, Never>) -> any Disposable {
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

  /// Loads anew in each run, and emits the states of that.
  ///
  /// The property takes the values, and the other states too if not `silently`.
  package func reload(silently: Bool = true) -> LoadingSignal<LoadingValue, LoadingError> {
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
  /// Emits each element when a property has been loaded anew for it; fails when that does.
  package func reloading<LoadingValue>(
    _ property: LoadingProperty<LoadingValue, Error>
  ) -> Signal<Element, Error> {
    flatMapLatest { (element: Element) -> Signal<Element, Error> in
      property.reload().dematerializeLoadingState().map { _ in element }
    }
  }
}

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// Emits each value when a property has been loaded anew for it.
  package func reloading<Value>(
    _ property: LoadingProperty<Value, LoadingError>, strategy: FlattenStrategy = .latest
  ) -> LoadingSignal<LoadingValue, LoadingError> {
    flatMapValue(strategy) { (value: LoadingValue) -> LoadingSignal<LoadingValue, LoadingError> in
      property.reload().mapValue { _ in value }
    }
  }
}
