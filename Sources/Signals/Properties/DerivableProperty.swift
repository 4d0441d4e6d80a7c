/// A property that others can be derived from, at any depth.
///
/// A derived property changes once for each change of a source, or once for several changes made in
/// ``inOneTurn(_:change:)``.
public protocol DerivableProperty<Element>: AnyObject, SignalProtocol where Error == Never {
  /// The node that stores the value and the links of its dependents.
  var node: ValueNode<Element> { get }
}

extension DerivableProperty {
  /// Returns a property whose value is `transform` applied to this one's.
  @inlinable
  public func map<Output>(_ transform: @escaping (Element) -> Output) -> AnyProperty<Output> {
    let input = DerivedInput(node)
    return AnyProperty(DerivedNode([input]) { transform(input.value) }, from: [self])
  }

  /// Returns a property that combines the current values of this property and another.
  @inlinable
  public func combineLatest<Other: DerivableProperty, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> AnyProperty<Output> {
    let (first, second) = (DerivedInput(node), DerivedInput(other.node))
    let derived = DerivedNode([first, second]) { combine(first.value, second.value) }
    return AnyProperty(derived, from: [self, other])
  }

  /// Returns a property with the current values of this property and another.
  @inlinable
  public func combineLatest<Other: DerivableProperty>(
    with other: Other
  ) -> AnyProperty<(Element, Other.Element)> {
    combineLatest(with: other) { ($0, $1) }
  }
}

/// Returns a property derived from any number of others.
@inlinable
func derived<each Source: DerivableProperty, Output>(
  _ source: repeat each Source, combine: @escaping (repeat (each Source).Element) -> Output
) -> AnyProperty<Output> {
  let inputs = (repeat DerivedInput((each source).node))
  var links: [DerivedLink] = []
  var sources: [AnyObject] = []
  repeat links.append(each inputs)
  repeat sources.append(each source)
  return AnyProperty(DerivedNode(links) { combine(repeat (each inputs).value) }, from: sources)
}
