extension SignalProtocol {
  /// Emits `element` at the end if there was none.
  @inlinable
  package func replaceEmpty(with element: Element) -> Signal<Element, Error> {
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
