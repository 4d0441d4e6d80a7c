/// One of the values that a derived value is made of, without its type.
@usableFromInline
class DerivedLink {
  /// `nil` after its end.
  ///
  /// Whoever reads this holds the source, or is told when it goes.
  @usableFromInline
  final unowned var source: ObservedSource?
  /// Who hangs on it, while it is observed.
  @usableFromInline
  final var dependent: Derivation?
  /// The version that the derived value is made of.
  private final var seen = -1
  private final let live = LiveNode("DerivedLink")

  @usableFromInline
  init(_ source: ObservedSource) {
    self.source = source
  }

  /// Whether the value will not change any more.
  final var isEnded: Bool { source == nil }

  /// Whether the value has changed since this was asked last.
  final func takeChange() -> Bool {
    guard let source else { return false }
    source.refresh()
    guard source.version != seen else { return false }
    seen = source.version
    return true
  }

  /// Has `dependent` told of changes.
  final func link(to dependent: Derivation) {
    guard let source else { return }
    self.dependent = dependent
    source.links.append(self)
    source.observersChanged()
  }

  /// Has nobody told.
  final func unlink() {
    guard dependent != nil else { return }
    dependent = nil
    guard let source, let i = source.links.firstIndex(where: { $0 === self }) else { return }
    source.links.remove(at: i)
    source.observersChanged()
  }

  /// Says that the source has ended or goes.
  final func end() {
    source = nil
    let dependent = dependent
    self.dependent = nil
    dependent?.sourceEnded()
  }
}

/// One of the values that a derived value is made of.
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

  /// The value, of the present if the source is; after the end the last one.
  @inlinable
  var value: Value {
    if let node { return node.stored }
    guard let last else { preconditionFailure("a source ended and left no value") }
    return last
  }

  /// Keeps the last value, since the source ends or goes.
  func keep(_ value: Value) {
    last = value
    node = nil
  }
}
