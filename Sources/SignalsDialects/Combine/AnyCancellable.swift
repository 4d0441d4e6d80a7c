public import Signals

/// Runs a closure once, when it is cancelled or deallocated.
public final class AnyCancellable: Disposable, Hashable {
  private var handler: (() -> Void)?
  private let live = LiveNode("AnyCancellable")

  /// Creates an object that runs a closure when it is cancelled or deallocated.
  public init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  /// Creates an object that disposes a disposable when it is cancelled or deallocated.
  public convenience init(_ disposable: any Disposable) {
    self.init(disposable.dispose)
  }

  deinit {
    dispose()
  }

  /// Whether the resources are released.
  public var isDisposed: Bool { handler == nil }

  /// Runs the closure; later calls do nothing.
  public func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }

  /// Returns whether both are the same object.
  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool {
    a === b
  }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(ObjectIdentifier(self))
  }

  /// Stores this object, without a wrapper, in a collection.
  public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(self)
  }

  /// Stores this object, without a wrapper, in a set.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(self)
  }
}

extension Disposable {
  /// Stores this disposable in a collection, which disposes it when it is deallocated.
  public func store<C: RangeReplaceableCollection<AnyCancellable>>(in collection: inout C) {
    collection.append(AnyCancellable(self))
  }

  /// Stores this disposable in a set, which disposes it when it is deallocated.
  public func store(in set: inout Set<AnyCancellable>) {
    set.insert(AnyCancellable(self))
  }
}
