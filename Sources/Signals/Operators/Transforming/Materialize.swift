extension SignalProtocol {
  /// Emits each event as an element, including the terminal one, and completes.
  @inlinable
  public func materialize() -> Signal<Signal<Element, Error>.Event, Never> {
    Signal<Signal<Element, Error>.Event, Never> { observer in
      observe { event in
        observer.receive(event)
        if event.isTerminal { observer.complete() }
      }
    }
  }

  /// Turns elements that are events back into events; the inverse of ``materialize()``.
  @inlinable
  public func dematerialize<Inner>() -> Signal<Inner, Error>
  where Element == Signal<Inner, Error>.Event {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let inner): observer.on(inner)
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Error == Never {
  /// Turns elements that are events back into events; the inverse of ``materialize()``.
  @inlinable
  @_disfavoredOverload
  public func dematerialize<Inner, Failure>() -> Signal<Inner, Failure>
  where Element == Signal<Inner, Failure>.Event {
    (castError() as Signal<Element, Failure>).dematerialize()
  }
}
