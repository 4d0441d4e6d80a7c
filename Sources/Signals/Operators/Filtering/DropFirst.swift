extension SignalProtocol {
  /// Drops the first `count` elements.
  @inlinable
  public func dropFirst(_ count: Int) -> Signal<Element, Error> {
    Signal.passing { observer in
      var missing = count
      return observe { event in
        if event.isNext, missing > 0 {
          missing -= 1
        } else {
          observer(event)
        }
      }
    }
  }
}
