/// A source of values that can be the end of a binding.
public protocol BindSource<BindValue> {
  associatedtype BindValue

  /// Returns the end.
  ///
  /// - Parameter isHeld: Whether the end retains this source.
  func bindEnd(isHeld: Bool) -> BindEnd<BindValue>
}

/// A source that can also receive values from a binding.
public protocol BindTarget<BindValue>: BindSource {
  /// Disposed when the target goes away; it owns the bindings of this target.
  var disposeBag: DisposeBag { get }
}

extension Subject: BindSource, BindTarget where Error == Never {
  /// The type of the bound values.
  public typealias BindValue = Element

  /// Returns the end; it can be read only if the subject stores a value.
  public func bindEnd(isHeld: Bool) -> BindEnd<Element> {
    let held = isHeld ? self : nil
    return BindEnd(
      read: { [weak self] in
        guard let node = self as? ValueNode<Element> else { return nil }
        node.refresh()
        return node.stored
      },
      write: { [weak self] in self?.send($0) },
      values: Signal.passing { [weak self] observer in
        guard let subject = held ?? self else {
          observer(.completed)
          return EndedDisposable()
        }
        return subject.observe(with: observer)
      },
      isGone: { [weak self] in self == nil })
  }
}

extension AnyProperty: BindSource {
  /// The type of the bound values.
  public typealias BindValue = Value

  /// Returns the end, which is read-only.
  public func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    let held = isHeld ? self : nil
    let node = node.bindEnd(isHeld: isHeld)
    return BindEnd(
      read: { [weak self] in (held ?? self)?.value }, values: node.values, isGone: node.isGone)
  }
}
