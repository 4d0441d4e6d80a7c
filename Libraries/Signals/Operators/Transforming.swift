extension SignalProtocol {
  /// Emits `transform` of each element.
  @inlinable
  public func map<Output>(
    _ transform: @escaping (Element) -> Output
  ) -> Signal<Output, Error> {
    Signal.passing { observer in
      observe { event in
        switch event {
        case .next(let element): observer(.next(transform(element)))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits `replacement` for each element.
  public func replaceElements<Replacement>(
    with replacement: Replacement
  ) -> Signal<Replacement, Error> {
    map { _ in replacement }
  }

  /// Emits an empty value for each element.
  public func eraseType() -> Signal<Void, Error> {
    map { _ in }
  }
}

extension SignalProtocol where Error == any Swift.Error {
  /// Emits `transform` of each element; fails with the error that it throws.
  @_disfavoredOverload
  public func map<Output>(
    _ transform: @escaping (Element) throws -> Output
  ) -> Signal<Output, Error> {
    tryMap { element in Result { try transform(element) } }
  }
}

extension SignalProtocol {
  /// Emits the success that `transform` returns for each element; fails with the first failure.
  public func tryMap<Output>(
    _ transform: @escaping (Element) -> Result<Output, Error>
  ) -> Signal<Output, Error> {
    map(transform).getValues()
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the success that `transform` returns for each element; fails with the first failure.
  @_disfavoredOverload
  public func tryMap<Output, Failure>(
    _ transform: @escaping (Element) -> Result<Output, Failure>
  ) -> Signal<Output, Failure> {
    map(transform).getValues()
  }
}

extension SignalProtocol {
  /// Emits `transform` of each element, and drops `nil` results.
  public func compactMap<Output>(
    _ transform: @escaping (Element) -> Output?
  ) -> Signal<Output, Error> {
    Signal.passing { observer in
      observe { event in
        switch event {
        case .next(let element):
          if let output = transform(element) { observer(.next(output)) }
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }
}

/// A protocol that only `Optional` adopts, for constraints in extensions.
public protocol OptionalProtocol<Wrapped> {
  associatedtype Wrapped

  /// This value as an optional.
  var _unbox: Wrapped? { get }
}

extension Optional: OptionalProtocol {
  /// The value itself.
  public var _unbox: Wrapped? { self }
}

extension SignalProtocol where Element: OptionalProtocol {
  /// Emits `transform` of each wrapped value; `nil` stays `nil`.
  public func mapWrapped<Output>(
    _ transform: @escaping (Element.Wrapped) -> Output
  ) -> Signal<Output?, Error> {
    map { $0._unbox.map(transform) }
  }

  /// Emits `replacement` instead of `nil`.
  public func replaceNils(with replacement: Element.Wrapped) -> Signal<Element.Wrapped, Error> {
    map { $0._unbox ?? replacement }
  }

  /// Drops `nil` elements.
  public func ignoreNils() -> Signal<Element.Wrapped, Error> {
    compactMap(\._unbox)
  }
}

/// A protocol that only `Result` adopts, for constraints in extensions.
public protocol _ResultProtocol<Value, Error> {
  associatedtype Value
  associatedtype Error: Swift.Error

  /// This value as a result.
  var _unbox: Result<Value, Error> { get }
}

extension Result: _ResultProtocol {
  /// The type of the success.
  public typealias Value = Success
  /// The type of the failure.
  public typealias Error = Failure

  /// The value itself.
  public var _unbox: Result { self }
}

extension SignalProtocol {
  /// Emits each element as a success, and a failure as the last element.
  public func mapToResult() -> Signal<Result<Element, Error>, Never> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let element): observer.receive(.success(element))
        case .failed(let error): observer.receive(lastElement: .failure(error))
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: _ResultProtocol {
  /// Emits the results with `transform` applied to each success.
  public func mapValue<Output>(
    _ transform: @escaping (Element.Value) -> Output
  ) -> Signal<Result<Output, Element.Error>, Error> {
    map { $0._unbox.map(transform) }
  }
}

extension SignalProtocol where Element: _ResultProtocol, Error == Element.Error {
  /// Emits the successes; fails with the first failure.
  public func getValues() -> Signal<Element.Value, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let result):
          switch result._unbox {
          case .success(let element): observer.receive(element)
          case .failure(let error): observer.fail(error)
          }
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol where Element: _ResultProtocol, Error == Never {
  /// Emits the successes; fails with the first failure.
  @_disfavoredOverload
  public func getValues() -> Signal<Element.Value, Element.Error> {
    (castError() as Signal<Element, Element.Error>).getValues()
  }
}

extension SignalProtocol {
  /// Emits `initial`, then the combination of the last emitted value with each element.
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

extension SignalProtocol {
  /// Emits each element with the previous one, which is `nil` for the first.
  public func zipPrevious() -> Signal<(Element?, Element), Error> {
    Signal.passing { observer in
      var previous: Element?
      return observe { event in
        switch event {
        case .next(let element):
          let pair = (previous, element)
          previous = element
          observer(.next(pair))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits each element with the previous one, starting with the second element.
  public func pairwise() -> Signal<(Element, Element), Error> {
    zipPrevious().compactMap { previous, element in previous.map { ($0, element) } }
  }
}

extension SignalProtocol {
  /// Emits the elements in arrays of `size`; drops an incomplete array at the end.
  public func buffer(size: Int) -> Signal<[Element], Error> {
    precondition(size > 0, "a buffer of no elements")
    return Signal.passing { observer in
      var elements: [Element] = []
      return observe { event in
        switch event {
        case .next(let element):
          elements.append(element)
          guard elements.count == size else { return }
          let full = elements
          elements = []  // before the call, which may re-enter
          observer(.next(full))
        case .failed(let error): observer(.failed(error))
        case .completed: observer(.completed)
        }
      }
    }
  }

  /// Emits the elements in arrays of `size`; drops an incomplete array at the end.
  public func buffer(ofSize size: Int) -> Signal<[Element], Error> {
    buffer(size: size)
  }

  /// Emits the elements in signals of `size`; drops an incomplete group at the end.
  public func window(ofSize size: Int) -> Signal<Signal<Element, Error>, Error> {
    buffer(size: size).map { Signal(sequence: $0) }
  }
}

extension SignalProtocol {
  /// Emits each element of the arrays that `transform` returns.
  public func flatMap<Output>(
    _ transform: @escaping (Element) -> [Output]
  ) -> Signal<Output, Error> {
    map(transform).flattenElements()
  }
}

extension SignalProtocol where Element: Sequence {
  /// Emits each sequence with `transform` applied to its elements.
  public func mapElement<Output>(
    _ transform: @escaping (Element.Element) -> Output
  ) -> Signal<[Output], Error> {
    map { $0.map(transform) }
  }

  /// Emits each element of each sequence.
  public func flattenElements() -> Signal<Element.Element, Error> {
    Signal { observer in
      observe { event in
        switch event {
        case .next(let elements):
          for element in elements {
            guard !observer.isDisposed else { break }
            observer.receive(element)
          }
        case .failed(let error): observer.fail(error)
        case .completed: observer.complete()
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Emits `element` at completion if there was no other element.
  public func replaceEmpty(with element: Element) -> Signal<Element, Error> {
    Signal { observer in
      var isEmpty = true
      return observe { event in
        if event.isNext { isEmpty = false }
        if event.isCompleted, isEmpty { observer.receive(element) }
        observer.on(event)
      }
    }
  }
}

extension SignalProtocol {
  /// Emits each event as an element, including the terminal one, and completes.
  public func materialize() -> Signal<Signal<Element, Error>.Event, Never> {
    Signal<Signal<Element, Error>.Event, Never> { observer in
      observe { event in
        observer.receive(event)
        if event.isTerminal { observer.complete() }
      }
    }
  }

  /// Turns elements that are events back into events; the inverse of ``materialize()``.
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
  @_disfavoredOverload
  public func dematerialize<Inner, Failure>() -> Signal<Inner, Failure>
  where Element == Signal<Inner, Failure>.Event {
    (castError() as Signal<Element, Failure>).dematerialize()
  }
}
