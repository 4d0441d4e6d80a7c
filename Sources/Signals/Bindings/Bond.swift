/// What a signal can be bound to: something that is done with each element.
///
/// It is done to an object, which is not retained, for as long as that lives; or, when it is made of
/// a listener only, for as long as the bond itself lives. The first is ReactiveKit's bond, the second
/// the first Bond's.
package class Bond<Element>: BindableProtocol, DisposeBagProvider {
  private let start: ((SafeSignal<Element>) -> any Disposable)?
  /// What is done with each element; `nil` for a bond with a target.
  package var listener: ((Element) -> Void)?
  /// What is bound to a bond without a target.
  package private(set) lazy var bag = DisposeBag(isReusable: true)

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

  /// - Parameter listener: Called with each element, for as long as the bond lives.
  package init(_ listener: @escaping (Element) -> Void) {
    start = nil
    self.listener = listener
  }

  package func bind(signal: SafeSignal<Element>) -> any Disposable {
    start?(signal) ?? signal.bind(to: self) { $0.listener?($1) }
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
