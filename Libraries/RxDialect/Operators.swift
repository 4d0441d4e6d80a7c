public import Signals

extension ObservableType {
  /// Emits the result of `transform` for each element; fails with the error that it throws.
  public func map<Result>(
    _ transform: @escaping (Element) throws -> Result
  ) -> Observable<Result> {
    Observable<Result>(
      asSignal().tryMap { element in
        Swift.Result { try transform(element) }
      })
  }

  /// Emits the elements for which `predicate` returns `true`; fails with the error that it throws.
  public func filter(_ predicate: @escaping (Element) throws -> Bool) -> Observable<Element> {
    let chosen = map { try predicate($0) ? Optional.some($0) : nil }
    return Observable(chosen.signal.ignoreNils())
  }

  /// Emits the result of `accumulator` for the previous result and each element.
  public func scan<Result>(
    _ seed: Result, accumulator: @escaping (Result, Element) throws -> Result
  ) -> Observable<Result> {
    Observable<Result>.deferred {
      var result = seed
      return map {
        result = try accumulator(result, $0)
        return result
      }
    }
  }

  /// Emits the first elements, and completes with the last of them.
  public func take(_ count: Int) -> Observable<Element> {
    Observable(asSignal().prefix(maxLength: count))
  }

  /// Leaves out the first elements.
  public func skip(_ count: Int) -> Observable<Element> {
    Observable(asSignal().dropFirst(count))
  }

  /// Emits some elements before those of this sequence.
  public func startWith(_ elements: Element...) -> Observable<Element> {
    Observable(asSignal().prepend(Signal(sequence: elements)))
  }

  /// Emits the elements of this sequence, then those of another one.
  public func concat<Second: ObservableType<Element>>(_ second: Second) -> Observable<Element> {
    Observable(asSignal().append(second.asSignal()))
  }

  /// Emits each element with the newest one of another sequence.
  public func withLatestFrom<Second: ObservableType, Result>(
    _ second: Second, resultSelector: @escaping (Element, Second.Element) throws -> Result
  ) -> Observable<Result> {
    Observable<(Element, Second.Element)>(asSignal().with(latestFrom: second.asSignal()))
      .map { try resultSelector($0.0, $0.1) }
  }

  /// Calls closures during a run, each before the subscriber receives the event.
  public func `do`(
    onNext: ((Element) throws -> Void)? = nil, onError: ((any Error) -> Void)? = nil,
    onCompleted: (() -> Void)? = nil, onSubscribe: (() -> Void)? = nil,
    onDispose: (() -> Void)? = nil
  ) -> Observable<Element> {
    let called = map {
      try onNext?($0)
      return $0
    }
    return Observable(
      called.signal.handleEvents(
        receiveSubscription: onSubscribe,
        receiveCompletion: {
          switch $0 {
          case .finished: onCompleted?()
          case .failure(let error): onError?(error)
          }
        },
        receiveCancel: onDispose))
  }
}

extension ObservableType where Element: Equatable {
  /// Leaves out each element that is equal to the one before it.
  public func distinctUntilChanged() -> Observable<Element> {
    Observable(asSignal().removeDuplicates())
  }
}

extension ObservableType {
  /// Emits the elements of all sequences that `selector` returns, in the order of arrival.
  public func flatMap<Inner: ObservableType>(
    _ selector: @escaping (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    Observable<Inner.Element>(
      asSignal().flatMapMerge { element in catching { try selector(element) } })
  }

  /// Emits the elements of the newest sequence that `selector` returns, and disposes the one before.
  ///
  /// It completes when this sequence and the newest one have. It fails with the first error.
  public func flatMapLatest<Inner: ObservableType>(
    _ selector: @escaping (Element) throws -> Inner
  ) -> Observable<Inner.Element> {
    Observable<Inner.Element>(
      asSignal().flatMapLatest { element in catching { try selector(element) } })
  }
}

extension ObservableType {
  /// Continues after an error with the sequence that `handler` returns.
  public func catchError(
    _ handler: @escaping (any Error) throws -> Observable<Element>
  ) -> Observable<Element> {
    Observable(
      asSignal().flatMapError { error in catching { try handler(error) } })
  }

  /// Emits an element in place of an error, and completes.
  public func catchErrorJustReturn(_ element: Element) -> Observable<Element> {
    Observable(asSignal().replaceError(with: element).castError())
  }

  /// Subscribes again after each error.
  public func retry() -> Observable<Element> {
    Observable(asSignal().retry(.max))
  }

  /// Subscribes again after an error, up to `maxAttemptCount` times in total.
  public func retry(_ maxAttemptCount: Int) -> Observable<Element> {
    maxAttemptCount < 1 ? .empty() : Observable(asSignal().retry(maxAttemptCount - 1))
  }
}

extension ObservableType {
  /// Emits each event in a separate call from the scheduler.
  public func observeOn(_ scheduler: any Scheduler) -> Observable<Element> {
    Observable(asSignal().receive(on: scheduler))
  }

  /// Starts each run in a call from the scheduler.
  public func subscribeOn(_ scheduler: any Scheduler) -> Observable<Element> {
    Observable(asSignal().subscribe(on: scheduler))
  }

  /// Emits an element once no other follows it for so many seconds.
  public func debounce(_ dueTime: Double, scheduler: any Scheduler) -> Observable<Element> {
    Observable(asSignal().debounce(for: dueTime, queue: scheduler))
  }
}
