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
