/// A target that a signal can be bound to.
public protocol BindableProtocol<Element> {
  associatedtype Element

  /// Sets the target to each element of `signal`, until the signal or the target ends.
  func bind(signal: SafeSignal<Element>) -> any Disposable
}

/// A shorter name for ``BindableProtocol``.
public typealias Bindable = BindableProtocol

extension SignalProtocol where Error == Never {
  /// Sets the target to each element while the target lives.
  @discardableResult
  public func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element {
    bindable.bind(signal: toSignal())
  }

  /// Sets the target, which takes optionals, to each element while the target lives.
  @_disfavoredOverload
  @discardableResult
  public func bind<Target: BindableProtocol>(
    to bindable: Target
  ) -> any Disposable where Target.Element == Element? {
    bindable.bind(signal: Signal(takingOver: self).map(Optional.some))
  }
}

extension Subject: BindableProtocol {
  public func bind(signal: SafeSignal<Element>) -> any Disposable {
    signal.bind(to: self) { $0.send($1) }
  }
}
