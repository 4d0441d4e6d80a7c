/// What tells of its own end, so that it can be bound to.
package protocol Deallocatable: AnyObject {
  /// Completes when the object goes.
  var deallocated: SafeSignal<Void> { get }
}

/// What holds disposables until it goes.
package protocol DisposeBagProvider: Deallocatable {
  /// Disposed when the object goes.
  var bag: DisposeBag { get }
}

extension DisposeBagProvider {
  package var deallocated: SafeSignal<Void> { bag.deallocated }
}
