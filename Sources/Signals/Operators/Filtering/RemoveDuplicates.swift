extension SignalProtocol {
  /// Drops an element that is like the one before it; the first element always passes.
  @inlinable
  package func removeDuplicates(
    by areEqual: @escaping (Element, Element) -> Bool
  ) -> Signal<Element, Error> {
    Signal.passing { observer in
      var last: Element?
      return observe { event in
        if case .next(let element) = event {
          if let last, areEqual(last, element) { return }
          last = element
        }
        observer(event)
      }
    }
  }
}

extension SignalProtocol where Element: Equatable {
  /// Drops an element equal to the one before it; the first element always passes.
  @inlinable
  package func removeDuplicates() -> Signal<Element, Error> {
    removeDuplicates(by: ==)
  }
}
