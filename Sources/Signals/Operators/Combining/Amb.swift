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
