extension BindableProtocol where Self: SignalProtocol, Error == Never {
  /// Keeps two values the same: this one goes first, then whichever changes sets the other.
  ///
  /// It is at rest when both have told the same value. What an observer of one makes of a value
  /// reaches the other too. The other side holds this one.
  @discardableResult
  package func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other
  ) -> any Disposable
  where Other.Element == Element, Other.Error == Never, Element: Equatable {
    bidirectionalBind(to: other, areEqual: ==)
  }

  /// Keeps two values the same: this one goes first, then whichever changes sets the other.
  ///
  /// - Parameter areEqual: Whether both tell the same value, so that there is nothing to do.
  @discardableResult
  package func bidirectionalBind<Other: BindableProtocol & SignalProtocol>(
    to other: Other, areEqual: @escaping (Element, Element) -> Bool
  ) -> any Disposable where Other.Element == Element, Other.Error == Never {
    let agreement = Agreement(areEqual)
    let there = toSignal().filter(agreement.isNews).bind(to: other)
    // Through a relay, so that this side does not hold the other that holds it.
    let relay = PassthroughSubject<Element, Never>()
    let back = relay.bind(to: self)
    let echo = other.observe { event in
      // The values that the other had before are overruled.
      if let element = event.element, !agreement.isNewsFromOther(element) { return }
      relay.on(event)
    }
    agreement.isStarting = false
    return CompositeDisposable([there, back, echo])
  }
}

/// The value that two sides have agreed on.
private final class Agreement<Element> {
  private let areEqual: (Element, Element) -> Bool
  private var value: Element?
  /// Whether what the other side tells is from before the binding.
  var isStarting = true
  private let live = LiveNode("Agreement")

  init(_ areEqual: @escaping (Element, Element) -> Bool) {
    self.areEqual = areEqual
  }

  /// Whether a value differs from the one agreed on; then it is the one.
  func isNews(_ element: Element) -> Bool {
    if let value, areEqual(value, element) { return false }
    value = element
    return true
  }

  /// The same for what the other side tells.
  func isNewsFromOther(_ element: Element) -> Bool {
    if isStarting, value != nil { return false }
    return isNews(element)
  }
}
