/// A value that can be read and observed: a property seen from outside, or one made from others.
///
/// It holds what it is made from. A derived one is computed once for each change, however many
/// observe it, and its observers never see it made from a mixture of old and new.
@usableFromInline
package final class AnyProperty<Value>: PropertyProtocol, DerivableProperty {
  @usableFromInline
  package let node: ValueNode<Value>
  private let sources: [AnyObject]

  /// A property, to be read and observed only.
  package init(property: Property<Value>) {
    node = property
    sources = []
  }

  /// A derived value and what it is derived from.
  @usableFromInline
  init(_ node: ValueNode<Value>, from sources: [AnyObject]) {
    self.node = node
    self.sources = sources
  }

  /// The value; of a derived property the one of the present, even while changes are on their way.
  @usableFromInline
  package var value: Value {
    node.refresh()
    return node.stored
  }

  @inlinable
  package func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    node.observe(with: observer)
  }
}
