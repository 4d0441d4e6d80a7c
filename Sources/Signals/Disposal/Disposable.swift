/// A handle that ends an observation; disposing it twice has no further effect.
public protocol Disposable: Cancellable {
  /// Whether the observation has ended or was disposed.
  var isDisposed: Bool { get }

  /// Ends the observation.
  func dispose()
}

/// A type that can be cancelled.
public protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

extension Disposable {
  public func cancel() {
    dispose()
  }

  /// Adds this disposable to a bag.
  public func dispose(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Adds this disposable to a bag.
  public func store(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Stores this disposable in a collection, which disposes it when it is deallocated.
  public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(AnyCancellable(self))
  }

  /// Stores this disposable in a set, which disposes it when it is deallocated.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(AnyCancellable(self))
  }
}
