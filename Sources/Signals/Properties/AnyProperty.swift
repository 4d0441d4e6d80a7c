/// A read-only property: a view of a ``Property``, or a value derived from other properties.
///
/// It retains its sources. A derived value is computed once for each change, however many observers
/// it has. Its observers never see a mixture of old and new sources.
public final class AnyProperty<Value>: PropertyProtocol, DerivableProperty {
  public let node: ValueNode<Value>
  private let sources: [AnyObject]

  /// Creates a read-only view of a property.
  public init(property: Property<Value>) {
    node = property
    sources = []
  }

  /// Creates a property from a node and the sources to retain.
  @usableFromInline
  init(_ node: ValueNode<Value>, from sources: [AnyObject]) {
    self.node = node
    self.sources = sources
  }

  /// The current value; a derived one is up to date even while changes are propagating.
  public var value: Value {
    node.refresh()
    return node.stored
  }

  @inlinable
  public func observe(with observer: @escaping Observer<Value, Never>) -> any Disposable {
    node.observe(with: observer)
  }
}
