/// The RxSugar members of an object: `view.rxs.disposeBag`.
package struct Sugar<Host: DisposeBagProvider> {
  /// The object.
  package let host: Host

  /// The bag of the object.
  package var disposeBag: DisposeBag { host.bag }

  /// Emits once and completes when the object is deallocated.
  package var onDeinit: SafeSignal<Void> { host.deallocated.append(()) }

  /// Returns a bond that calls `setter` with the object, which is not retained.
  package func valueSetter<Value>(_ setter: @escaping (Host, Value) -> Void) -> Bond<Value> {
    Bond(target: host, setter: setter)
  }
}

extension DisposeBagProvider {
  /// The RxSugar members of the object.
  package var rxs: Sugar<Self> { Sugar(host: self) }
}
