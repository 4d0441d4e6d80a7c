public import Facts

extension SignalProtocol {
  /// Drops the last `count` elements; each element is delayed until `count` others have followed.
  @inlinable
  public func dropLast(_ count: Int) -> Signal<Element, Error> {
    Signal.passing { observer in
      var held = Queue<Element>()
      return observe { event in
        guard case .next(let element) = event else { return observer(event) }
        held.append(element)
        guard held.count > count, let oldest = held.popFirst() else { return }
        observer(.next(oldest))
      }
    }
  }
}
