/// A link from a derived value to one of its sources, without the type of the value.
@usableFromInline
class DerivedLink {
  /// The source, or `nil` after it has ended.
  ///
  /// Each reader of this property either retains the source or is notified before it is
  /// deallocated.
  @usableFromInline
  final unowned var source: ObservedSource?
  /// The derivation that depends on the source, while it is observed.
  @usableFromInline
  final var dependent: Derivation?
  /// The version of the source that the derived value was computed from.
  private final var seen = -1
  private final let live = LiveNode("DerivedLink")

  @usableFromInline
  init(_ source: ObservedSource) {
    self.source = source
  }

  /// Whether the source will not change any more.
  final var isEnded: Bool { source == nil }

  /// Returns whether the source has changed since the last call.
  final func takeChange() -> Bool {
    guard let source else { return false }
    source.refresh()
    guard source.version != seen else { return false }
    seen = source.version
    return true
  }

  /// Notifies `dependent` of changes from now on.
  final func link(to dependent: Derivation) {
    guard let source else { return }
    self.dependent = dependent
    source.links.append(self)
    source.observersChanged()
  }

  /// Stops the notifications.
  final func unlink() {
    guard dependent != nil else { return }
    dependent = nil
    guard let source, let i = source.links.firstIndex(where: { $0 === self }) else { return }
    source.links.remove(at: i)
    source.observersChanged()
  }

  /// Notes that the source has ended or is being deallocated.
  final func end() {
    source = nil
    let dependent = dependent
    self.dependent = nil
    dependent?.sourceEnded()
  }
}

/// A typed link from a derived value to one of its sources.
@usableFromInline
final class DerivedInput<Value>: DerivedLink {
  @usableFromInline
  unowned var node: ValueNode<Value>?
  @usableFromInline
  var last: Value?

  @inlinable
  init(_ node: ValueNode<Value>) {
    self.node = node
    super.init(node)
  }

  /// The stored value of the source, or its last value after it has ended.
  @inlinable
  var value: Value {
    if let node { return node.stored }
    guard let last else { preconditionFailure("a source ended and left no value") }
    return last
  }

  /// Keeps the last value, because the source has ended or is being deallocated.
  func keep(_ value: Value) {
    last = value
    node = nil
  }
}
