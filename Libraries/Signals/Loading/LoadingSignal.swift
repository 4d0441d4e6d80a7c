/// A signal of loading states; a loading failure does not end it.
public typealias LoadingSignal<LoadingValue, LoadingError: Error> =
  SafeSignal<LoadingState<LoadingValue, LoadingError>>

extension SignalProtocol where Element: LoadingStateProtocol, Error == Never {
  /// The type of the loaded values.
  public typealias LoadingValue = Element.LoadingValue
  /// The type of the loading failures.
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

/// A value that is loaded when the first observer subscribes, and then kept.
public final class LoadingProperty<LoadingValue, LoadingError: Error>: PropertyProtocol,
  SignalProtocol, DisposeBagProvider
{
  /// The type of the elements.
  public typealias Element = LoadingState<LoadingValue, LoadingError>
  /// The type of the failure.
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

  /// The bag that is disposed with this object.
  public var bag: DisposeBag { state.bag }

  /// The current loading state; `loading` before the first observer.
  public var loadingState: Element { state.value }

  /// The loaded value, or `nil` if there is none; setting `nil` sets the state to `loading`.
  public var value: LoadingValue? {
    get { loadingState.value }
    set { state.value = newValue.map { .loaded($0) } ?? .loading }
  }

  /// Starts a run that sends its events to the observer, and loads the value if necessary.
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
