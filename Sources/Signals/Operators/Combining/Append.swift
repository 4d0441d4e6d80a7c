extension SignalProtocol {
  /// Emits `element` after the elements of this signal.
  @inlinable
  public func append(_ element: Element) -> Signal<Element, Error> {
    append(Signal(just: element))
  }

  /// Emits the elements of this signal, then those of the other.
  @inlinable
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
  @inlinable
  @_disfavoredOverload
  public func append<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    append(other.castError() as Signal<Element, Error>)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of this signal, which cannot fail, then those of the other.
  @inlinable
  @_disfavoredOverload
  public func append<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    (castError() as Signal<Element, Other.Error>).append(other)
  }
}
