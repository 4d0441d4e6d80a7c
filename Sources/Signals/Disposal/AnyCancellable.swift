/// Runs a closure once, when it is cancelled or deallocated.
public final class AnyCancellable: Disposable, Hashable {
  private var handler: (() -> Void)?
  private let live = LiveNode("AnyCancellable")

  public init(_ handler: @escaping () -> Void) {
    self.handler = handler
  }

  public convenience init(_ disposable: any Disposable) {
    self.init(disposable.dispose)
  }

  deinit {
    dispose()
  }

  public var isDisposed: Bool { handler == nil }

  public func dispose() {
    let handler = handler
    self.handler = nil
    handler?()
  }

  public static func == (a: AnyCancellable, b: AnyCancellable) -> Bool {
    a === b
  }

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
