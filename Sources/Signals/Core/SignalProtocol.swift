/// A type that can be observed: a signal, a subject or a property.
public protocol SignalProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Starts a run.
  ///
  /// An implementation keeps the grammar `next* (completed | failed)?` and is silent once disposed.
  ///
  /// - Returns: A disposable that ends the run early. Releasing it does not end the run, so put it
  ///   into a ``DisposeBag``.
  func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable
}

extension SignalProtocol {
  /// Starts a run that sends its events to `observer`.
  @inlinable
  public func observe(with observer: some ObserverProtocol<Element, Error>) -> any Disposable {
    observe(with: observer.on)
  }

  /// Calls `observer` with each element.
  @inlinable
  public func observeNext(with observer: @escaping (Element) -> Void) -> any Disposable {
    observe { event in
      if case .next(let element) = event { observer(element) }
    }
  }

  /// Calls `observer` with the error if the run fails.
  @inlinable
  public func observeFailed(with observer: @escaping (Error) -> Void) -> any Disposable {
    observe { event in
      if case .failed(let error) = event { observer(error) }
    }
  }

  /// Calls `observer` when the run completes.
  @inlinable
  public func observeCompleted(with observer: @escaping () -> Void) -> any Disposable {
    observe { event in
      if case .completed = event { observer() }
    }
  }

  /// Returns this as a ``Signal``.
  @inlinable
  public func toSignal() -> Signal<Element, Error> {
    (self as? Signal<Element, Error>) ?? Signal.passing(observe(with:))
  }
}
