internal import Facts

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
  @inlinable
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
