extension SignalProtocol {
  /// Emits `element` at completion if there was no other element.
  @inlinable
  public func replaceEmpty(with element: Element) -> Signal<Element, Error> {
    Signal { observer in
      var isEmpty = true
      return observe { event in
        if event.isNext { isEmpty = false }
        if event.isCompleted, isEmpty { observer.receive(element) }
        observer.on(event)
      }
    }
  }
}
