/// A node whose value is computed from others.
@usableFromInline
final class DerivedNode<Value>: ValueNode<Value> {
  @usableFromInline
  let compute: () -> Value
  @usableFromInline
  var derivation: Derivation?

  @inlinable
  init(_ links: [DerivedLink], compute: @escaping () -> Value) {
    self.compute = compute
    for link in links { link.source?.refresh() }
    super.init(compute())
    derivation = Derivation(
      self, from: links,
      compute: {
        guard let node = $0 as? DerivedNode else { return }
        node.stored = node.compute()
      },
      tell: {
        guard let node = $0 as? DerivedNode else { return }
        node.on(.next(node.stored))
      },
      complete: { ($0 as? DerivedNode)?.on(.completed) })
  }

  @usableFromInline
  override func refresh() {
    derivation?.refresh()
  }

  @inlinable
  override func willSend(_ event: Event) {
    if links.count > 1 { mark() }
  }

  @usableFromInline
  override func observersChanged() {
    derivation?.observersChanged(isObserved)
  }
}
