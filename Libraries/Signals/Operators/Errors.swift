extension SignalProtocol {
  /// Replaces the error of a failure with the result of `transform`.
  public func mapError<Other: Swift.Error>(
    _ transform: @escaping (Error) -> Other
  ) -> Signal<Element, Other> {
    Signal<Element, Other>.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(element))
        case .failed(let error): observer(.failed(transform(error)))
        case .completed: observer(.completed)
        }
      }
    }
  }
}

extension SignalProtocol where Error == Never {
  /// Returns the signal with another error type.
  ///
  /// Operators on two signals require equal error types. This one adapts a signal that cannot fail.
  public func castError<Failure: Swift.Error>() -> Signal<Element, Failure> {
    Signal<Element, Failure>.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(element))
        case .completed: observer(.completed)
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Continues after a failure with the signal that `recover` returns for the error.
  public func flatMapError<Other: SignalProtocol>(
    _ recover: @escaping (Error) -> Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    Signal<Element, Other.Error> { observer in
      let current = SerialDisposable(otherDisposable: nil)
      var isFirstRunning = true
      let first = observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed(let error):
          isFirstRunning = false
          current.otherDisposable = nil
          current.otherDisposable = recover(error).observe(with: observer.on)
        case .completed: observer.complete()
        }
      }
      if isFirstRunning { current.otherDisposable = first }
      return current
    }
  }

  /// Emits `element` instead of a failure and completes.
  public func replaceError(with element: Element) -> Signal<Element, Never> {
    Signal<Element, Never> { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed: observer.receive(lastElement: element)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Completes instead of failing.
  ///
  /// - Parameter logging: Whether to print a failure with the location of this call.
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

extension SignalProtocol {
  /// Restarts the signal after a failure, at most `times` times, if `shouldRetry` returns `true`.
  public func retry(
    _ times: Int, if shouldRetry: @escaping (Error) -> Bool = { _ in true }
  ) -> Signal<Element, Error> {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      let trampoline = Trampoline()
      var left = times
      func attempt() {
        trampoline.bounce {
          guard !observer.isDisposed else { return }
          var isRunning = true
          let run = observe { event in
            guard case .failed(let error) = event, left > 0, shouldRetry(error) else {
              return observer.on(event)
            }
            left -= 1
            isRunning = false
            current.otherDisposable = nil
            attempt()
          }
          if isRunning { current.otherDisposable = run }
        }
      }
      attempt()
      return current
    }
  }

  /// Restarts the signal after a failure when the other signal emits.
  ///
  /// It fails if the other signal completes first, or if `shouldRetry` returns `false`.
  public func retry<Other: SignalProtocol>(
    when other: Other, if shouldRetry: @escaping (Error) -> Bool = { _ in true }
  ) -> Signal<Element, Error> where Other.Error == Never {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      let trampoline = Trampoline()
      func wait(_ error: Error) {
        var isWaiting = true
        let run = other.observe { event in
          guard isWaiting else { return }
          isWaiting = false
          guard event.isNext else { return observer.fail(error) }
          current.otherDisposable?.dispose()
          attempt()
        }
        if isWaiting { current.otherDisposable = run } else { run.dispose() }
      }
      func attempt() {
        trampoline.bounce {
          guard !observer.isDisposed else { return }
          current.otherDisposable = nil
          var isRunning = true
          let run = observe { event in
            guard case .failed(let error) = event, shouldRetry(error) else {
              return observer.on(event)
            }
            isRunning = false
            wait(error)
          }
          if isRunning { current.otherDisposable = run }
        }
      }
      attempt()
      return current
    }
  }
}
