extension SignalProtocol {
  /// Emits `initial`, then the combination of the last emitted value with each element.
  @inlinable
  public func scan<Output>(
    _ initial: Output, _ combine: @escaping (Output, Element) -> Output
  ) -> Signal<Output, Error> {
    Signal { observer in
      var accumulated = initial
      observer.receive(initial)
      return observe { event in
        switch event {
        case .next(let element):
          accumulated = combine(accumulated, element)
          observer.receive(accumulated)
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Emits the combination of all elements at completion.
  @inlinable
  public func reduce<Output>(
    _ initial: Output, _ combine: @escaping (Output, Element) -> Output
  ) -> Signal<Output, Error> {
    Signal { observer in
      var accumulated = initial
      return observe { event in
        switch event {
        case .next(let element): accumulated = combine(accumulated, element)
        case .failed(let error): observer.fail(error)
        case .completed: observer.receive(lastElement: accumulated)
        }
      }
    }
  }

  /// Emits an array of all elements at completion.
  @inlinable
  public func collect() -> Signal<[Element], Error> {
    Signal { observer in
      var elements: [Element] = []
      return observe { event in
        switch event {
        case .next(let element): elements.append(element)
        case .failed(let error): observer.fail(error)
        case .completed: observer.receive(lastElement: elements)
        }
      }
    }
  }
}
