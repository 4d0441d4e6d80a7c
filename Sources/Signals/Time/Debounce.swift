extension SignalProtocol {
  /// Emits an element once no other follows it for `seconds`.
  ///
  /// At completion it emits the pending element.
  public func debounce(for seconds: Double, queue scheduler: any Scheduler)
    -> Signal<Element, Error>
  {
    Signal { observer in
      let timer = SerialDisposable(otherDisposable: nil)
      var held: Element?
      func release() {
        guard let element = held else { return }
        held = nil  // before the call, which may re-enter
        observer.receive(element)
      }
      let run = observe { event in
        timer.otherDisposable?.dispose()
        timer.otherDisposable = nil
        switch event {
        case .next(let element):
          held = element
          timer.otherDisposable = scheduler.schedule(after: seconds, release)
        case .failed(let error): observer.fail(error)
        case .completed:
          release()
          observer.complete()
        }
      }
      return CompositeDisposable([run, timer])
    }
  }
}
