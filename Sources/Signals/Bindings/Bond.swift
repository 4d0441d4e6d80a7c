/// What a signal can be bound to: an object, not retained, and what is done to it.
package struct Bond<Element>: BindableProtocol {
  private let start: (SafeSignal<Element>) -> any Disposable

  /// - Parameter setter: Called with the target and each element, for as long as the target lives.
  package init<Target: Deallocatable>(
    target: Target, context: ExecutionContext? = nil,
    setter: @escaping (Target, Element) -> Void
  ) {
    start = { [weak target] signal in
      guard let target else { return EndedDisposable() }
      return signal.bind(to: target, context: context, setter: setter)
    }
  }

  package func bind(signal: SafeSignal<Element>) -> any Disposable {
    start(signal)
  }
}

extension ReactiveExtensions where Base: Deallocatable {
  /// What is done to the object with each element that is bound to it.
  package func bond<Element>(
    context: ExecutionContext? = nil, setter: @escaping (Base, Element) -> Void
  ) -> Bond<Element> {
    Bond(target: base, context: context, setter: setter)
  }
}
