extension SignalProtocol {
  /// Emits what `transform` makes of each element.
  package func map<Output>(
    _ transform: @escaping (Element) -> Output
  ) -> Signal<Output, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(transform(element))
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Emits what `transform` makes of each element, and drops an element it makes nothing of.
  package func compactMap<Output>(
    _ transform: @escaping (Element) -> Output?
  ) -> Signal<Output, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): if let output = transform(element) { observer.receive(output) }
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Emits the elements that are wanted.
  package func filter(
    _ isIncluded: @escaping (Element) -> Bool
  ) -> Signal<Element, Error> {
    Signal { observer in
      observe { event in
        if case .next(let element) = event, !isIncluded(element) { return }
        observer.on(event)
      }
    }
  }

  /// Drops an element equal to the one before it; the first element always passes.
  package func removeDuplicates() -> Signal<Element, Error> where Element: Equatable {
    Signal { observer in
      var last: Element?
      return observe { event in
        if case .next(let element) = event {
          guard element != last else { return }
          last = element
        }
        observer.on(event)
      }
    }
  }

  /// Turns a failure into another.
  package func mapError<Other: Swift.Error>(
    _ transform: @escaping (Error) -> Other
  ) -> Signal<Element, Other> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed(let error): observer.fail(transform(error))
        case .completed: observer.complete()
        }
      }
    }
  }

  /// Ends where the signal fails, for observers that need not know why.
  package func suppressError() -> Signal<Element, Never> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed, .completed: observer.complete()
        }
      }
    }
  }
}
