extension SignalProtocol {
  /// Completes instead of failing.
  ///
  /// - Parameter logging: Whether to print a failure with the location of this call.
  @inlinable
  public func suppressError(
    logging: Bool = false, file: String = #fileID, line: Int = #line
  ) -> Signal<Element, Never> {
    Signal<Element, Never>.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(element))
        case .failed(let error):
          if logging { print("Signal at \(file):\(line) failed: \(error)") }
          observer(.completed)
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Completes instead of failing, and sends the error to `listener`.
  public func suppressAndFeedError<Listener: SubjectProtocol>(
    into listener: Listener, logging: Bool = true, file: String = #fileID, line: Int = #line
  ) -> Signal<Element, Never> where Listener.Element == Error {
    feedError(into: listener).suppressError(logging: logging, file: file, line: line)
  }

  /// Emits the error of a failure as an element and completes; drops all elements.
  @inlinable
  public func toErrorSignal() -> Signal<Error, Never> {
    Signal<Error, Never> { observer in
      observe { event in
        switch event {
        case .next: break
        case .failed(let error): observer.receive(lastElement: error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Returns the elements and the error as two signals that share one run.
  public func branchOutError() -> (Signal<Element, Never>, Signal<Error, Never>) {
    let shared = share()
    return (shared.suppressError(), shared.toErrorSignal())
  }

  /// Returns the elements and the mapped error as two signals that share one run.
  public func branchOutError<Failure>(
    _ mapError: @escaping (Error) -> Failure
  ) -> (Signal<Element, Never>, Signal<Failure, Never>) {
    let shared = share()
    return (shared.suppressError(), shared.toErrorSignal().map(mapError))
  }
}
