/// Ends an observation, once; disposing twice is the same as disposing once.
@usableFromInline
package protocol Disposable: Cancellable {
  /// Whether it has ended.
  var isDisposed: Bool { get }

  /// Ends it.
  func dispose()
}

/// Whatever can be cancelled.
@usableFromInline
package protocol Cancellable {
  /// Ends it.
  func cancel()
}

extension Disposable {
  @usableFromInline
  package func cancel() {
    dispose()
  }

  /// Lets a bag dispose it.
  package func dispose(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Lets a bag dispose it.
  package func store(in bag: some DisposeBagProtocol) {
    bag.add(disposable: self)
  }

  /// Keeps it in a collection that disposes it when it goes.
  package func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(AnyCancellable(self))
  }

  /// Keeps it in a set that disposes it when it goes.
  package func store(in set: inout Set<AnyCancellable>) {
    set.insert(AnyCancellable(self))
  }
}
