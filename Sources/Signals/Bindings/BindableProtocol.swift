/// What a signal can be bound to.
package protocol BindableProtocol<Element> {
  associatedtype Element

  /// Takes what the signal emits, until it ends or the target does.
  func bind(signal: SafeSignal<Element>) -> any Disposable
}

/// The same by its other name.
package typealias Bindable = BindableProtocol

extension SignalProtocol where Error == Never {
  /// Sets the target to each element, for as long as the target lives.
  @discardableResult
  package func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element {
    bindable.bind(signal: toSignal())
  }

  /// Sets the target, which takes optionals, to each element, for as long as the target lives.
  @_disfavoredOverload
  @discardableResult
  package func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element? {
    bindable.bind(signal: Signal(takingOver: self).map(Optional.some))
  }
}

extension Subject: BindableProtocol {
  package func bind(signal: SafeSignal<Element>) -> any Disposable {
    signal.bind(to: self) { $0.send($1) }
  }
}
