extension SignalProtocol {
  /// Emits `element` after the elements of this signal.
  public func append(_ element: Element) -> Signal<Element, Error> {
    append(Signal(just: element))
  }

  /// Emits the elements of this signal, then those of the other.
  public func append<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    Signal { observer in
      let current = SerialDisposable(otherDisposable: nil)
      var isFirstRunning = true
      let first = observe { event in
        guard event.isCompleted else { return observer.on(event) }
        isFirstRunning = false
        current.otherDisposable = nil
        current.otherDisposable = other.observe(with: observer.on)
      }
      if isFirstRunning { current.otherDisposable = first }
      return current
    }
  }

  /// Emits the elements of this signal, then those of the other, which cannot fail.
  @_disfavoredOverload
  public func append<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    append(other.castError() as Signal<Element, Error>)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of this signal, which cannot fail, then those of the other.
  @_disfavoredOverload
  public func append<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    (castError() as Signal<Element, Other.Error>).append(other)
  }
}

extension SignalProtocol {
  /// Emits `element` before the elements of this signal.
  public func prepend(_ element: Element) -> Signal<Element, Error> {
    Signal { observer in
      observer.receive(element)
      return observe(with: observer.on)
    }
  }

  /// Emits the elements of the other signal, then those of this one.
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    other.append(self)
  }

  /// Emits the elements of the other signal, which cannot fail, then those of this one.
  @_disfavoredOverload
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    (other.castError() as Signal<Element, Error>).append(self)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of the other signal, then those of this one, which cannot fail.
  @_disfavoredOverload
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    other.append(castError() as Signal<Element, Other.Error>)
  }
}

extension SignalProtocol {
  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    Signal { observer in
      let runs = CompositeDisposable()
      var open = 2
      let forward: Observer<Element, Error> = { event in
        guard event.isCompleted else { return observer.on(event) }
        open -= 1
        if open == 0 { observer.complete() }
      }
      runs.add(disposable: observe(with: forward))
      guard !observer.isDisposed else { return runs }
      runs.add(disposable: other.observe(with: forward))
      return runs
    }
  }

  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  @_disfavoredOverload
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    merge(with: other.castError() as Signal<Element, Error>)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of both signals in the order of arrival; fails with the first failure.
  @_disfavoredOverload
  public func merge<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    (castError() as Signal<Element, Other.Error>).merge(with: other)
  }
}

/// Emits the elements of two signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error
{
  a.merge(with: b)
}

/// Emits the elements of three signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error
{
  merge(a, b).merge(with: c)
}

/// Emits the elements of four signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error
{
  merge(a, b, c).merge(with: d)
}

/// Emits the elements of five signals in the order of arrival.
public func merge<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error
{
  merge(a, b, c, d).merge(with: e)
}

/// Emits the elements of six signals in the order of arrival.
public func merge<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error,
  A.Element == F.Element, A.Error == F.Error
{
  merge(a, b, c, d, e).merge(with: f)
}

extension SignalProtocol {
  /// Emits the elements of whichever signal sends an event first; disposes the other.
  public func amb<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    Signal { observer in
      let first = SerialDisposable(otherDisposable: nil)
      let second = SerialDisposable(otherDisposable: nil)
      first.otherDisposable = observe { event in
        second.dispose()  // before the call: this signal has won
        observer.on(event)
      }
      guard !second.isDisposed, !observer.isDisposed else { return first }
      second.otherDisposable = other.observe { event in
        guard !second.isDisposed else { return }
        first.dispose()
        observer.on(event)
      }
      return CompositeDisposable([first, second])
    }
  }

  /// Emits the elements of whichever signal sends an event first; disposes the other.
  @_disfavoredOverload
  public func amb<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    amb(with: other.castError() as Signal<Element, Error>)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of whichever signal sends an event first; disposes the other.
  @_disfavoredOverload
  public func amb<Other: SignalProtocol>(
    with other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    (castError() as Signal<Element, Other.Error>).amb(with: other)
  }
}

/// Emits the elements of whichever of two signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error
{
  a.amb(with: b)
}

/// Emits the elements of whichever of three signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error
{
  amb(a, b).amb(with: c)
}

/// Emits the elements of whichever of four signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error
{
  amb(a, b, c).amb(with: d)
}

/// Emits the elements of whichever of five signals sends an event first.
public func amb<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error
{
  amb(a, b, c, d).amb(with: e)
}

/// Emits the elements of whichever of six signals sends an event first.
public func amb<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error,
  A.Element == F.Element, A.Error == F.Error
{
  amb(a, b, c, d, e).amb(with: f)
}

extension SignalProtocol {
  /// Emits each element, and repeats the newest whenever the other signal emits.
  public func replayLatest<Other: SignalProtocol>(
    when other: Other
  ) -> Signal<Element, Error> where Other.Error == Never {
    combineLatest(with: other.eraseType().prepend(()).castError() as Signal<Void, Error>) {
      element, _ in element
    }
  }
}
