extension Signal {
  /// Creates a signal that emits one element and completes.
  @inlinable
  public init(just element: Element) {
    self.init(performing: { element })
  }

  /// Creates a signal that emits the result of `body` and completes; each run calls `body`.
  @inlinable
  public init(performing body: @escaping () -> Element) {
    self.init { observer in
      observer.receive(lastElement: body())
      return NonDisposable.instance
    }
  }

  /// Creates a signal that emits the success of a result and completes, or fails with its error.
  @inlinable
  public init(result: Result<Element, Error>) {
    self.init(evaluating: { result })
  }

  /// Creates a signal that emits the success of `body` or fails; each run calls `body`.
  @inlinable
  public init(evaluating body: @escaping () -> Result<Element, Error>) {
    self.init { observer in
      switch body() {
      case .success(let element): observer.receive(lastElement: element)
      case .failure(let error): observer.fail(error)
      }
      return NonDisposable.instance
    }
  }

  /// Creates a signal that emits each element of a sequence and completes.
  @inlinable
  public init<Elements: Sequence<Element>>(sequence: Elements) {
    self.init { observer in
      for element in sequence {
        guard !observer.isDisposed else { break }
        observer.receive(element)
      }
      observer.complete()
      return NonDisposable.instance
    }
  }
}

extension Signal where Error == any Swift.Error {
  /// Creates a signal that emits the result of `body`, or fails with its error.
  ///
  /// Each run calls `body`.
  @inlinable
  public init(catching body: @escaping () throws -> Element) {
    self.init(evaluating: { Result(catching: body) })
  }
}
