/// A way to turn a signal of signals into one signal.
public enum FlattenStrategy: Sendable {
  /// Runs one inner signal after another, in the order of arrival.
  case concat

  /// Runs only the newest inner signal, and disposes the previous one.
  case latest

  /// Runs all inner signals at once.
  case merge
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// The type of the elements of the inner signals.
  public typealias InnerElement = Element.Element

  /// Emits the elements of the inner signals; fails with the first failure.
  public func flatten(_ strategy: FlattenStrategy) -> Signal<InnerElement, Error> {
    switch strategy {
    case .concat: concat()
    case .latest: switchToLatest()
    case .merge: merge()
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the inner signals; fails with the first failure.
  @_disfavoredOverload
  public func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Element.Error> {
    (castError() as Signal<Element, Element.Error>).flatten(strategy)
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Never {
  /// Emits the elements of the inner signals, which cannot fail.
  @_disfavoredOverload
  public func flatten(_ strategy: FlattenStrategy) -> Signal<Element.Element, Error> {
    map { $0.castError() as Signal<Element.Element, Error> }.flatten(strategy)
  }
}

extension SignalProtocol {
  /// Flattens the signals that `transform` returns for each element.
  public func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    map(transform).flatten(strategy)
  }

  /// Flattens the signals that `transform` returns for each element, one after another.
  public func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.concat, transform)
  }

  /// Flattens the signals that `transform` returns for each element, always following the newest.
  public func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.latest, transform)
  }

  /// Flattens the signals that `transform` returns for each element, all at once.
  public func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Error> where Inner.Error == Error {
    flatMap(.merge, transform)
  }
}

extension SignalProtocol where Error == Never {
  /// Flattens the signals that `transform` returns for each element.
  @_disfavoredOverload
  public func flatMap<Inner: SignalProtocol>(
    _ strategy: FlattenStrategy, _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    map(transform).flatten(strategy)
  }

  /// Flattens the signals that `transform` returns for each element, one after another.
  @_disfavoredOverload
  public func flatMapConcat<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.concat, transform)
  }

  /// Flattens the signals that `transform` returns for each element, always following the newest.
  @_disfavoredOverload
  public func flatMapLatest<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.latest, transform)
  }

  /// Flattens the signals that `transform` returns for each element, all at once.
  @_disfavoredOverload
  public func flatMapMerge<Inner: SignalProtocol>(
    _ transform: @escaping (Element) -> Inner
  ) -> Signal<Inner.Element, Inner.Error> {
    flatMap(.merge, transform)
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of all inner signals in the order of arrival.
  ///
  /// The cost of an inner signal does not depend on their number.
  public func merge() -> Signal<Element.Element, Error> {
    Signal { observer in
      let runs = CompositeDisposable()
      var open = 1  // counts the outer signal too
      func completeOne() {
        open -= 1
        if open == 0 { observer.complete() }
      }
      runs.add(
        disposable: observe { event in
          switch event {
          case .next(let inner):
            open += 1
            runs.add(
              disposable: inner.observe { event in
                switch event {
                case .next(let element): observer.receive(element)
                case .failed(let error): observer.fail(error)
                case .completed: completeOne()
                }
              })
          case .failed(let error): observer.fail(error)
          case .completed: completeOne()
          }
        })
      return runs
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of all inner signals in the order of arrival.
  @_disfavoredOverload
  public func merge() -> Signal<Element.Element, Element.Error> {
    flatten(.merge)
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of the inner signals, one signal after another, in the order of arrival.
  public func concat() -> Signal<Element.Element, Error> {
    Signal { observer in
      let run = ConcatRun<Element>(observer)
      run.disposables.add(
        disposable: observe { event in
          switch event {
          case .next(let inner): run.add(inner)
          case .failed(let error): observer.fail(error)
          case .completed: run.completeOuter()
          }
        })
      return run.disposables
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the inner signals, one signal after another, in the order of arrival.
  @_disfavoredOverload
  public func concat() -> Signal<Element.Element, Element.Error> {
    flatten(.concat)
  }
}

/// One run of `concat`, with the queue of inner signals.
private final class ConcatRun<Inner: SignalProtocol> {
  let disposables: CompositeDisposable
  private let observer: AtomicObserver<Inner.Element, Inner.Error>
  private let current = SerialDisposable(otherDisposable: nil)
  private let trampoline = Trampoline()
  private var waiting = Queue<Inner>()
  private var isInnerRunning = false
  private var isOuterComplete = false
  private let live = LiveNode("ConcatRun")

  init(_ observer: AtomicObserver<Inner.Element, Inner.Error>) {
    self.observer = observer
    disposables = CompositeDisposable([current])
  }

  func add(_ inner: Inner) {
    waiting.append(inner)
    advance()
  }

  func completeOuter() {
    isOuterComplete = true
    advance()
  }

  private func advance() {
    trampoline.bounce { [self] in
      guard !isInnerRunning, !observer.isDisposed else { return }
      guard let inner = waiting.popFirst() else {
        if isOuterComplete { observer.complete() }
        return
      }
      isInnerRunning = true
      let run = inner.observe { [self] event in
        switch event {
        case .next(let element): observer.receive(element)
        case .failed(let error): observer.fail(error)
        case .completed:
          isInnerRunning = false
          advance()
        }
      }
      if isInnerRunning { current.otherDisposable = run }
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Element.Error == Error {
  /// Emits the elements of the newest inner signal, and disposes the previous one.
  ///
  /// It completes when the outer signal and the newest inner signal have.
  public func switchToLatest() -> Signal<Element.Element, Error> {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      var newest = 0
      var isInnerRunning = false
      var isOuterComplete = false
      let outer = observe { event in
        switch event {
        case .next(let inner):
          newest += 1
          let number = newest
          isInnerRunning = true
          current.otherDisposable?.dispose()
          // The disposal may have re-entered with a newer signal.
          guard number == newest, !observer.isDisposed else { return }
          current.otherDisposable = nil
          let run = inner.observe { event in
            guard number == newest else { return }
            switch event {
            case .next(let element): observer.receive(element)
            case .failed(let error): observer.fail(error)
            case .completed:
              isInnerRunning = false
              if isOuterComplete { observer.complete() }
            }
          }
          // A signal that triggers a switch while it starts has already been replaced.
          if number == newest { current.otherDisposable = run } else { run.dispose() }
        case .failed(let error): observer.fail(error)
        case .completed:
          isOuterComplete = true
          if !isInnerRunning { observer.complete() }
        }
      }
      return CompositeDisposable([outer, current])
    }
  }
}

extension SignalProtocol where Element: SignalProtocol, Error == Never {
  /// Emits the elements of the newest inner signal, and disposes the previous one.
  @_disfavoredOverload
  public func switchToLatest() -> Signal<Element.Element, Element.Error> {
    flatten(.latest)
  }
}
