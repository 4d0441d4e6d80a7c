extension BindableProtocol where Self: SignalProtocol, Error == Never {
  /// Keeps two values equal: `other` takes this value first, then each side updates the other.
  ///
  /// Updates stop when both sides have sent the same value. A value that an observer sets on one
  /// side in response also reaches the other. `other` retains this side.
  @discardableResult
  public func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other
  ) -> any Disposable
  where Other.Element == Element, Other.Error == Never, Element: Equatable {
    bidirectionalBind(to: other, areEqual: ==)
  }

  /// Keeps two values equal: `other` takes this value first, then each side updates the other.
  ///
  /// - Parameter areEqual: Returns whether two values are equal, so that no side must be set.
  @discardableResult
  public func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other, areEqual: @escaping (Element, Element) -> Bool
  ) -> any Disposable where Other.Element == Element, Other.Error == Never {
    let agreement = Agreement(areEqual)
    let there = toSignal().filter(agreement.isNews).bind(to: other)
    // A relay, so that this side does not retain `other`, which retains this side.
    let relay = PassthroughSubject<Element, Never>()
    let back = relay.bind(to: self)
    let echo = other.observe { event in
      // Ignore the values that `other` had before the binding.
      if let element = event.element, !agreement.isNewsFromOther(element) { return }
      relay.on(event)
    }
    agreement.isStarting = false
    return CompositeDisposable([there, back, echo])
  }
}

/// The value that both sides have agreed on.
private final class Agreement<Element> {
  private let areEqual: (Element, Element) -> Bool
  private var value: Element?
  /// Whether values from the other side predate the binding.
  var isStarting = true
  private let live = LiveNode("Agreement")

  init(_ areEqual: @escaping (Element, Element) -> Bool) {
    self.areEqual = areEqual
  }

  /// Returns whether a value differs from the agreed one, and makes it the agreed one.
  func isNews(_ element: Element) -> Bool {
    if let value, areEqual(value, element) { return false }
    value = element
    return true
  }

  /// Returns whether a value from the other side differs from the agreed one.
  ///
  /// While the binding starts, it returns `false` if this side has already sent a value.
  func isNewsFromOther(_ element: Element) -> Bool {
    if isStarting, value != nil { return false }
    return isNews(element)
  }
}
