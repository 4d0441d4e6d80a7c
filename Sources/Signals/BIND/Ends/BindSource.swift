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
  public typealias BindValue = Element

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
  public typealias BindValue = Value

  public func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    let held = isHeld ? self : nil
    let node = node.bindEnd(isHeld: isHeld)
    return BindEnd(
      read: { [weak self] in (held ?? self)?.value }, values: node.values, isGone: node.isGone)
  }
}

extension Published: BindSource {
  public typealias BindValue = Value

  /// Returns the end.
  ///
  /// It always retains the property, but never the object that contains it.
  public func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    BindEnd(
      read: { wrappedValue }, write: { wrappedValue = $0 }, values: projectedValue.toSignal())
  }
}
