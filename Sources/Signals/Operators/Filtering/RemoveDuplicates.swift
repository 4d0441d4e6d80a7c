extension SignalProtocol {
  /// Drops an element that equals the previous one by `areEqual`; always emits the first element.
  @inlinable
  public func removeDuplicates(
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
  /// Drops an element that equals the previous one; always emits the first element.
  @inlinable
  public func removeDuplicates() -> Signal<Element, Error> {
    removeDuplicates(by: ==)
  }
}
