public import Signals

/// A binding target that runs a closure for each element.
///
/// A bond with a target object does not retain it and works while that object lives, as in
/// ReactiveKit. A bond with only a listener works while the bond itself lives, as in the first
/// Bond.
public class Bond<Element>: BindableProtocol, DisposeBagProvider {
  private let start: ((SafeSignal<Element>) -> any Disposable)?
  /// The closure that runs for each element; `nil` for a bond with a target.
  public var listener: ((Element) -> Void)?
  /// The bindings to a bond without a target.
  public private(set) lazy var bag = DisposeBag(isReusable: true)

  /// - Parameter setter: Called with the target and each element while the target lives.
  public init<Target: Deallocatable>(
    target: Target, context: ExecutionContext? = nil,
    setter: @escaping (Target, Element) -> Void
  ) {
    start = { [weak target] signal in
      guard let target else { return SimpleDisposable(isDisposed: true) }
      return signal.bind(to: target, context: context, setter: setter)
    }
  }

  /// - Parameter listener: Called with each element while the bond lives.
  public init(_ listener: @escaping (Element) -> Void) {
    start = nil
    self.listener = listener
  }

  /// Runs the closure for each element of `signal` while the target, or a bond without one, lives.
  public func bind(signal: SafeSignal<Element>) -> any Disposable {
    start?(signal) ?? signal.bind(to: self) { $0.listener?($1) }
  }
}

extension ReactiveExtensions where Base: Deallocatable {
  /// Returns a bond that calls `setter` with the object and each element.
  public func bond<Element>(
    context: ExecutionContext? = nil, setter: @escaping (Base, Element) -> Void
  ) -> Bond<Element> {
    Bond(target: base, context: context, setter: setter)
  }
}
