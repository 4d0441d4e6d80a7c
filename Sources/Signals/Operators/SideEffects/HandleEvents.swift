extension SignalProtocol {
  /// Calls closures during a run, each before the observer receives the event.
  ///
  /// - Parameter receiveCancel: Called once, when the run has ended or was disposed.
  @inlinable
  public func handleEvents(
    receiveSubscription: (() -> Void)? = nil,
    receiveOutput: ((Element) -> Void)? = nil,
    receiveCompletion: ((Subscribers.Completion<Error>) -> Void)? = nil,
    receiveCancel: (() -> Void)? = nil
  ) -> Signal<Element, Error> {
    Signal { observer in
      receiveSubscription?()
      let run = observe { event in
        switch event {
        case .next(let element): receiveOutput?(element)
        case .failed(let error): receiveCompletion?(.failure(error))
        case .completed: receiveCompletion?(.finished)
        }
        observer.on(event)
      }
      guard let receiveCancel else { return run }
      return BlockDisposable {
        run.dispose()
        receiveCancel()
      }
    }
  }
}
