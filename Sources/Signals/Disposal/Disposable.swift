/// A handle that ends an observation; disposing it twice has no further effect.
@usableFromInline
package protocol Disposable: Cancellable {
  /// Whether the observation has ended or was disposed.
  var isDisposed: Bool { get }

  /// Ends the observation.
  func dispose()
}

/// A type that can be cancelled.
@usableFromInline
package protocol Cancellable {
  /// Cancels the activity.
  func cancel()
}

extension Disposable {
  @usableFromInline
  package func cancel() {
    dispose()
  }

  /// Adds this disposable to a bag.
  package func dispose(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Adds this disposable to a bag.
  package func store(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Stores this disposable in a collection, which disposes it when it is deallocated.
  package func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(AnyCancellable(self))
  }

  /// Stores this disposable in a set, which disposes it when it is deallocated.
  package func store(in set: inout Set<AnyCancellable>) {
    set.insert(AnyCancellable(self))
  }
}
