extension SignalProtocol {
  /// Emits `element` before the elements of this signal.
  @inlinable
  public func prepend(_ element: Element) -> Signal<Element, Error> {
    Signal { observer in
      observer.receive(element)
      return observe(with: observer.on)
    }
  }

  /// Emits the elements of the other signal, then those of this one.
  @inlinable
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Error {
    other.append(self)
  }

  /// Emits the elements of the other signal, which cannot fail, then those of this one.
  @inlinable
  @_disfavoredOverload
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Error> where Other.Element == Element, Other.Error == Never {
    (other.castError() as Signal<Element, Error>).append(self)
  }
}

extension SignalProtocol where Error == Never {
  /// Emits the elements of the other signal, then those of this one, which cannot fail.
  @inlinable
  @_disfavoredOverload
  public func prepend<Other: SignalProtocol>(
    _ other: Other
  ) -> Signal<Element, Other.Error> where Other.Element == Element {
    other.append(castError() as Signal<Element, Other.Error>)
  }
}
