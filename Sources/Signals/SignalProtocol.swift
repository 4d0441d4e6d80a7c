/// Whatever can be observed: signals, subjects, properties.
package protocol SignalProtocol<Element, Error> {
  associatedtype Element
  associatedtype Error: Swift.Error

  /// Starts a run.
  ///
  /// - Returns: What ends the run early. Dropping it does not: a run lives until it ends or is
  ///   disposed, so put it into a ``DisposeBag``.
  func observe(with observer: @escaping Observer<Element, Error>) -> any Disposable
}

extension SignalProtocol {
  /// Calls `observer` with each element.
  package func observeNext(with observer: @escaping (Element) -> Void) -> any Disposable {
    observe { event in
      if case .next(let element) = event { observer(element) }
    }
  }

  /// Calls `observer` when the run fails.
  package func observeFailed(with observer: @escaping (Error) -> Void) -> any Disposable {
    observe { event in
      if case .failed(let error) = event { observer(error) }
    }
  }

  /// Calls `observer` when the run is complete.
  package func observeCompleted(with observer: @escaping () -> Void) -> any Disposable {
    observe { event in
      if case .completed = event { observer() }
    }
  }

  /// The same as a ``Signal``.
  package func toSignal() -> Signal<Element, Error> {
    (self as? Signal<Element, Error>) ?? Signal { observe(with: $0.on) }
  }
}
