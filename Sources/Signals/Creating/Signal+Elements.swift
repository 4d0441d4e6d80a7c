extension Signal {
  /// Emits one element and completes.
  @inlinable
  package init(just element: Element) {
    self.init(performing: { element })
  }

  /// Emits what `body` returns and completes; each run calls it.
  @inlinable
  package init(performing body: @escaping () -> Element) {
    self.init { observer in
      observer.receive(lastElement: body())
      return NonDisposable.instance
    }
  }

  /// Emits a success and completes, or fails.
  @inlinable
  package init(result: Result<Element, Error>) {
    self.init(evaluating: { result })
  }

  /// Emits the success that `body` returns and completes, or fails; each run calls it.
  @inlinable
  package init(evaluating body: @escaping () -> Result<Element, Error>) {
    self.init { observer in
      switch body() {
      case .success(let element): observer.receive(lastElement: element)
      case .failure(let error): observer.fail(error)
      }
      return NonDisposable.instance
    }
  }

  /// Emits each element of a sequence and completes.
  @inlinable
  package init<Elements: Sequence<Element>>(sequence: Elements) {
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
  /// Emits what `body` returns and completes, or fails with what it throws; each run calls it.
  @inlinable
  package init(catching body: @escaping () throws -> Element) {
    self.init(evaluating: { Result(catching: body) })
  }
}
