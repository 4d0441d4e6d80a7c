/// What can be the end of a binding from which values come.
package protocol BindSource<BindValue> {
  associatedtype BindValue

  /// The end.
  ///
  /// - Parameter isHeld: Whether the end holds what it is the end of.
  func bindEnd(isHeld: Bool) -> BindEnd<BindValue>
}

/// What can be the end of a binding to which values go, and from which they come.
package protocol BindTarget<BindValue>: BindSource {
  /// Disposed when it goes: for the bindings of which it is the target.
  var disposeBag: DisposeBag { get }
}

extension Subject: BindSource, BindTarget where Error == Never {
  package typealias BindValue = Element

  package func bindEnd(isHeld: Bool) -> BindEnd<Element> {
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
  package typealias BindValue = Value

  package func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    let held = isHeld ? self : nil
    let node = node.bindEnd(isHeld: isHeld)
    return BindEnd(
      read: { [weak self] in (held ?? self)?.value }, values: node.values, isGone: node.isGone)
  }
}

extension Published: BindSource {
  package typealias BindValue = Value

  /// The end; it holds the property in either case, but not the object that has it.
  package func bindEnd(isHeld: Bool) -> BindEnd<Value> {
    BindEnd(
      read: { wrappedValue }, write: { wrappedValue = $0 }, values: projectedValue.toSignal())
  }
}
