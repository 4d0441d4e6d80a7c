/// A path to a value inside another value: `car.engine.path(\.rpm)`.
///
/// It is resolved again each time the outer value is replaced.
public struct BindPath<Root: BindSource, Next: BindSource>: BindSource {
  public typealias BindValue = Next.BindValue

  fileprivate let root: Root
  private let keyPath: KeyPath<Root.BindValue, Next>

  fileprivate init(_ root: Root, _ keyPath: KeyPath<Root.BindValue, Next>) {
    self.root = root
    self.keyPath = keyPath
  }

  public func bindEnd(isHeld: Bool) -> BindEnd<Next.BindValue> {
    let root = root.bindEnd(isHeld: isHeld)
    // Does not capture `self`, which retains the root.
    let next = { [keyPath] (value: Root.BindValue) in value[keyPath: keyPath].bindEnd(isHeld: false)
    }
    return BindEnd(
      read: { root.read().flatMap { next($0).read() } },
      write: { value in
        guard let present = root.read() else { throw BindEndIsMissing() }
        try next(present).write?(value)
      },
      values: root.values?.flatMapLatest { next($0).values ?? .never() },
      gone: root.gone, isGone: root.isGone)
  }
}

extension BindPath: BindTarget where Root: BindTarget, Next: BindTarget {
  public var disposeBag: DisposeBag { root.disposeBag }
}

extension BindSource {
  /// Returns the path to a value inside this one.
  public func path<Next: BindSource>(
    _ keyPath: KeyPath<BindValue, Next>
  ) -> BindPath<Self, Next> {
    BindPath(self, keyPath)
  }
}
