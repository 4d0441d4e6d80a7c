extension SignalProtocol {
  /// Emits the elements for which `isIncluded` returns `true`.
  @inlinable
  public func filter(_ isIncluded: @escaping (Element) -> Bool) -> Signal<Element, Error> {
    Signal.passing { observer in
      observe { event in
        if case .next(let element) = event, !isIncluded(element) { return }
        observer(event)
      }
    }
  }

  /// Emits each element if the first element of its `isIncluded` signal is `true`.
  public func flatMapFilter(
    _ strategy: FlattenStrategy = .concat,
    _ isIncluded: @escaping (Element) -> SafeSignal<Bool>
  ) -> Signal<Element, Error> {
    flatMap(strategy) { element -> Signal<Element, Error> in
      isIncluded(element).first().compactMap { $0 ? element : nil }.castError()
    }
  }

  /// Drops all elements.
  public func ignoreOutput() -> Signal<Element, Error> {
    filter { _ in false }
  }
}

extension SignalProtocol {
  /// Drops an element that equals the previous one by `areEqual`; always emits the first element.
  public func removeDuplicates(
    by areEqual: @escaping (Element, Element) -> Bool
  ) -> Signal<Element, Error> {
    Signal.passing { observer in
      var last: Element?
      return observe { event in
        if case .next(let element) = event {
          if let last, areEqual(last, element) { return }
          last = element
        }
        observer(event)
      }
    }
  }
}

extension SignalProtocol where Element: Equatable {
  /// Drops an element that equals the previous one; always emits the first element.
  public func removeDuplicates() -> Signal<Element, Error> {
    removeDuplicates(by: ==)
  }
}

extension SignalProtocol {
  /// Drops the first `count` elements.
  public func dropFirst(_ count: Int) -> Signal<Element, Error> {
    Signal.passing { observer in
      var missing = count
      return observe { event in
        if event.isNext, missing > 0 {
          missing -= 1
        } else {
          observer(event)
        }
      }
    }
  }
}

extension SignalProtocol {
  /// Drops the last `count` elements; each element is delayed until `count` others have followed.
  public func dropLast(_ count: Int) -> Signal<Element, Error> {
    Signal.passing { observer in
      var held = Queue<Element>()
      return observe { event in
        guard case .next(let element) = event else { return observer(event) }
        held.append(element)
        guard held.count > count, let oldest = held.popFirst() else { return }
        observer(.next(oldest))
      }
    }
  }
}

extension SignalProtocol {
  /// Emits the first `maxLength` elements and completes with the last of them.
  public func prefix(maxLength: Int) -> Signal<Element, Error> {
    guard maxLength > 0 else { return .completed() }
    return Signal { observer in
      var taken = 0
      return observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        taken += 1  // before the call, which may re-enter
        if taken < maxLength {
          observer.receive(element)
        } else if taken == maxLength {
          observer.receive(lastElement: element)
        }
      }
    }
  }

  /// Emits the first element and completes.
  public func first() -> Signal<Element, Error> {
    prefix(maxLength: 1)
  }

  /// Emits the element at `index`, if there is one, and completes.
  public func output(at index: Int) -> Signal<Element, Error> {
    prefix(maxLength: index + 1).dropFirst(index)
  }

  /// Emits elements until `shouldContinue` returns `false`, and completes.
  ///
  /// - Parameter inclusive: Whether to emit the element that stops the signal.
  public func prefix(
    while shouldContinue: @escaping (Element) -> Bool, inclusive: Bool = false
  ) -> Signal<Element, Error> {
    Signal { observer in
      observe { event in
        guard case .next(let element) = event else { return observer.on(event) }
        let isWanted = shouldContinue(element)
        if isWanted || inclusive { observer.receive(element) }
        if !isWanted { observer.complete() }
      }
    }
  }

  /// Emits elements until the other signal sends any event, and completes.
  public func prefix(untilOutputFrom other: some SignalProtocol) -> Signal<Element, Error> {
    Signal { observer in
      let runs = CompositeDisposable()
      runs.add(disposable: other.observe { _ in observer.complete() })
      guard !observer.isDisposed else { return runs }
      runs.add(disposable: observe(with: observer.on))
      return runs
    }
  }
}

extension SignalProtocol {
  /// Emits the last `maxLength` elements at completion.
  public func suffix(maxLength: Int) -> Signal<Element, Error> {
    Signal { observer in
      var last = Queue<Element>()
      return observe { event in
        switch event {
        case .next(let element):
          last.append(element)
          if last.count > maxLength { _ = last.popFirst() }
        case .failed(let error): observer.fail(error)
        case .completed:
          while !observer.isDisposed, let element = last.popFirst() { observer.receive(element) }
          observer.complete()
        }
      }
    }
  }

  /// Emits the last element at completion.
  public func last() -> Signal<Element, Error> {
    suffix(maxLength: 1)
  }
}

extension SignalProtocol {
  /// Emits the elements and never ends.
  public func ignoreTerminal() -> Signal<Element, Error> {
    Signal.passing { observer in
      observe { event in
        if event.isNext { observer(event) }
      }
    }
  }
}

extension SignalProtocol {
  /// Drops elements while the last element of the other signal is `false`; starts unpaused.
  public func pausable<Other: SignalProtocol>(
    by other: Other
  ) -> Signal<Element, Error> where Other.Element == Bool {
    Signal { observer in
      var isOpen = true
      let runs = CompositeDisposable()
      runs.add(disposable: other.observeNext { isOpen = $0 })
      runs.add(
        disposable: observe { event in
          if isOpen || event.isTerminal { observer.on(event) }
        })
      return runs
    }
  }
}
