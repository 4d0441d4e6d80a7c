public import Signals

extension ObservableType {
  /// Passes each event, also the last one, to an observer.
  public func bind(to observer: some ObserverType<Element>) -> any Disposable {
    subscribe(observer)
  }

  /// Passes each event, also the last one, to an observer of optionals.
  @_disfavoredOverload
  public func bind(to observer: some ObserverType<Element?>) -> any Disposable {
    map(Optional.some).subscribe(observer)
  }

  /// Sets a variable to each element; the variable outlives the sequence.
  ///
  /// ``Hooks/defaultErrorHandler`` receives an error.
  public func bind(to variable: Variable<Element>) -> any Disposable {
    bind { variable.value = $0 }
  }

  /// Sets a variable of an optional to each element.
  @_disfavoredOverload
  public func bind(to variable: Variable<Element?>) -> any Disposable {
    bind { variable.value = $0 }
  }

  /// Calls a closure with each element; ``Hooks/defaultErrorHandler`` receives an error.
  public func bind(onNext: @escaping (Element) -> Void) -> any Disposable {
    subscribe(onNext: onNext)
  }

  /// Passes each event, also the last one, to an observer: the older name of `bind(to:)`.
  public func bindTo(_ observer: some ObserverType<Element>) -> any Disposable {
    bind(to: observer)
  }

  /// Sets a variable to each element: the older name of `bind(to:)`.
  public func bindTo(_ variable: Variable<Element>) -> any Disposable {
    bind(to: variable)
  }

  /// Calls a closure with each element: the older name of `bind(onNext:)`.
  public func bindNext(_ onNext: @escaping (Element) -> Void) -> any Disposable {
    bind(onNext: onNext)
  }
}

/// Passes each event of the sequence to the observer.
@discardableResult
public func <~ <Observer: ObserverType, Source: ObservableType>(
  observer: Observer, source: Source
) -> any Disposable where Observer.Element == Source.Element {
  source.bind(to: observer)
}

/// Sets the variable to each element of the sequence.
@discardableResult
public func <~ <Source: ObservableType>(
  variable: Variable<Source.Element>, source: Source
) -> any Disposable {
  source.bind(to: variable)
}

/// Calls the closure with each element of the sequence.
@discardableResult
public func <~ <Source: ObservableType>(
  onNext: @escaping (Source.Element) -> Void, source: Source
) -> any Disposable {
  source.bind(onNext: onNext)
}
