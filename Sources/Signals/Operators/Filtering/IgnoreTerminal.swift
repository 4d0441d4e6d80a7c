extension SignalProtocol {
  /// Emits the elements and never ends.
  @inlinable
  public func ignoreTerminal() -> Signal<Element, Error> {
    Signal.passing { observer in
      observe { event in
        if event.isNext { observer(event) }
      }
    }
  }
}
