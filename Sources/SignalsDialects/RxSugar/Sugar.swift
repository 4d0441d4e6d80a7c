public import Signals

/// The RxSugar members of an object: `view.rxs.disposeBag`.
public struct Sugar<Host: DisposeBagProvider> {
  /// The object.
  public let host: Host

  /// The bag of the object.
  public var disposeBag: DisposeBag { host.bag }

  /// Emits once and completes when the object is deallocated.
  public var onDeinit: SafeSignal<Void> { host.deallocated.append(()) }

  /// Returns a bond that calls `setter` with the object, which is not retained.
  public func valueSetter<Value>(_ setter: @escaping (Host, Value) -> Void) -> Bond<Value> {
    Bond(target: host, setter: setter)
  }
}

extension DisposeBagProvider {
  /// The RxSugar members of the object.
  public var rxs: Sugar<Self> { Sugar(host: self) }
}
