/// Runs a closure once, when it is cancelled or deallocated.
package final class AnyCancellable: Disposable, Hashable {
  private var handler: (() -> Void)?
  private let live = LiveNode("AnyCancellable")

  package init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  package convenience init(_ disposable: any Disposable) {
    self.init(disposable.dispose)
  }

  deinit {
    dispose()
  }

  @usableFromInline
  package var isDisposed: Bool { handler == nil }

  @usableFromInline
  package func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }

  package static func == (a: AnyCancellable, b: AnyCancellable) -> Bool {
    a === b
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }

  /// Stores this object, without a wrapper, in a collection.
  package func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(self)
  }

  /// Stores this object, without a wrapper, in a set.
  package func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }
}
