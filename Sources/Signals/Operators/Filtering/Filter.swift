extension SignalProtocol {
  /// Emits the elements for which `isIncluded` returns `true`.
  @inlinable
  public func filter(_ isIncluded: @escaping (Element) -> Bool) -> Signal<Element, Error> {
    Signal.passing { observer in
      observe { event in
        if case .next(let element) = event, !isIncluded(element) { return }
        observer(event)
      }
    }
  }

  /// Emits each element if the first element of its `isIncluded` signal is `true`.
  @inlinable
  public func flatMapFilter(
    _ strategy: FlattenStrategy = .concat,
    _ isIncluded: @escaping (Element) -> SafeSignal<Bool>
  ) -> Signal<Element, Error> {
    flatMap(strategy) { element -> Signal<Element, Error> in
      isIncluded(element).first().compactMap { $0 ? element : nil }.castError()
    }
  }

  /// Drops all elements.
  @inlinable
  public func ignoreOutput() -> Signal<Element, Error> {
    filter { _ in false }
  }
}
