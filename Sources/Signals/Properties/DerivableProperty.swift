/// A value that others can be derived from, in any depth.
///
/// What is derived changes once for each change of what it depends on, or once for several that are
/// made together with ``inOneTurn(_:change:)``.
@usableFromInline
package protocol DerivableProperty<Element>: AnyObject, SignalProtocol where Error == Never {
  /// Where the value is, with who depends on it.
  var node: ValueNode<Element> { get }
}

extension DerivableProperty {
  /// The property that is always `transform` of this one.
  @inlinable
  package func map<Output>(_ transform: @escaping (Element) -> Output) -> AnyProperty<Output> {
    let input = DerivedInput(node)
    return AnyProperty(DerivedNode([input]) { transform(input.value) }, from: [self])
  }

  /// The property that is always made of the values of two.
  @inlinable
  package func combineLatest<Other: DerivableProperty, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> AnyProperty<Output> {
    let (first, second) = (DerivedInput(node), DerivedInput(other.node))
    let derived = DerivedNode([first, second]) { combine(first.value, second.value) }
    return AnyProperty(derived, from: [self, other])
  }

  /// The property that is always the values of two.
  @inlinable
  package func combineLatest<Other: DerivableProperty>(
    with other: Other
  ) -> AnyProperty<(Element, Other.Element)> {
    combineLatest(with: other) { ($0, $1) }
  }
}

/// The property that is made of any number of others.
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
