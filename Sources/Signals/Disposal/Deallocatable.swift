/// An object that signals its deallocation, so that it can be the target of a binding.
public protocol Deallocatable: AnyObject {
  /// Completes when the object is deallocated.
  var deallocated: SafeSignal<Void> { get }
}

/// An object that holds disposables until it is deallocated.
public protocol DisposeBagProvider: Deallocatable {
  /// A bag that is disposed when the object is deallocated.
  var bag: DisposeBag { get }
}

extension DisposeBagProvider {
  public var deallocated: SafeSignal<Void> { bag.deallocated }
}
