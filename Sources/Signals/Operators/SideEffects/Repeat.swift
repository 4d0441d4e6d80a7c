extension SignalProtocol {
  /// Restarts the signal when the signal `other(element)` emits, for the newest element.
  ///
  /// It completes when the signal and the newest of the other signals have.
  public func `repeat`<Other: SignalProtocol>(
    when other: @escaping (Element) -> Other
  ) -> Signal<Element, Error> where Other.Error == Never {
    Signal { observer in
      let run = RepeatRun(observer)
      run.start(observe(with:), other)
      return run.disposables
    }
  }
}

/// One run of `repeat`.
private final class RepeatRun<Element, Error: Swift.Error> {
  let disposables: CompositeDisposable
  private let observer: AtomicObserver<Element, Error>
  private let outer = SerialDisposable(otherDisposable: nil)
  private let inner = SerialDisposable(otherDisposable: nil)
  private let trampoline = Trampoline()
  private var attempts = 0
  private var triggers = 0
  private var isOuterRunning = false
  private var isInnerRunning = false
  private let live = LiveNode("RepeatRun")

  init(_ observer: AtomicObserver<Element, Error>) {
    self.observer = observer
    disposables = CompositeDisposable([outer, inner])
  }

  func start<Other: SignalProtocol>(
    _ observe: @escaping (@escaping Observer<Element, Error>) -> any Disposable,
    _ other: @escaping (Element) -> Other
  ) where Other.Error == Never {
    attempts += 1
    isOuterRunning = true
    outer.otherDisposable?.dispose()
    trampoline.bounce { [self] in
      guard !observer.isDisposed else { return }
      let attempt = attempts
      let run = observe { [self] event in
        guard attempt == attempts else { return }
        switch event {
        case .next(let element):
          observer.receive(element)
          guard attempt == attempts, !observer.isDisposed else { return }
          wait(for: other(element)) { [self] in start(observe, other) }
        case .failed(let error): observer.fail(error)
        case .completed:
          isOuterRunning = false
          completeIfDone()
        }
      }
      if attempt == attempts { outer.otherDisposable = run } else { run.dispose() }
    }
  }

  private func wait<Other: SignalProtocol>(
    for other: Other, _ again: @escaping () -> Void
  ) where Other.Error == Never {
    triggers += 1
    let trigger = triggers
    isInnerRunning = true
    inner.otherDisposable?.dispose()
    let run = other.observe { [self] event in
      guard trigger == triggers else { return }
      if event.isNext {
        again()
      } else {
        isInnerRunning = false
        completeIfDone()
      }
    }
    if trigger == triggers { inner.otherDisposable = run } else { run.dispose() }
  }

  private func completeIfDone() {
    if !isOuterRunning, !isInnerRunning { observer.complete() }
  }
}
