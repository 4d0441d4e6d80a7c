/// What RxSugar adds to an object: `view.rxs.disposeBag`.
package struct Sugar<Host: DisposeBagProvider> {
  /// The object.
  package let host: Host

  /// The bag of the object.
  package var disposeBag: DisposeBag { host.bag }

  /// Emits once and completes when the object goes.
  package var onDeinit: SafeSignal<Void> { host.deallocated.append(()) }

  /// What sets something of the object, which is not held.
  package func valueSetter<Value>(_ setter: @escaping (Host, Value) -> Void) -> Bond<Value> {
    Bond(target: host, setter: setter)
  }
}

extension DisposeBagProvider {
  /// What RxSugar adds to the object.
  package var rxs: Sugar<Self> { Sugar(host: self) }
}
