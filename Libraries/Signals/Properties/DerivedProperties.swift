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
  public func map<Output>(_ transform: @escaping (Element) -> Output) -> AnyProperty<Output> {
    let input = DerivedInput(node)
    return AnyProperty(DerivedNode([input]) { transform(input.value) }, from: [self])
  }

  /// Returns a property that combines the current values of this property and another.
  public func combineLatest<Other: DerivableProperty, Output>(
    with other: Other, combine: @escaping (Element, Other.Element) -> Output
  ) -> AnyProperty<Output> {
    let (first, second) = (DerivedInput(node), DerivedInput(other.node))
    let derived = DerivedNode([first, second]) { combine(first.value, second.value) }
    return AnyProperty(derived, from: [self, other])
  }

  /// Returns a property with the current values of this property and another.
  public func combineLatest<Other: DerivableProperty>(
    with other: Other
  ) -> AnyProperty<(Element, Other.Element)> {
    combineLatest(with: other) { ($0, $1) }
  }
}

/// Returns a property derived from any number of others.
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

/// Returns a property that combines the current values of two properties.
public func combineLatest<A: DerivableProperty, B: DerivableProperty, Output>(
  _ a: A, _ b: B, combine: @escaping (A.Element, B.Element) -> Output
) -> AnyProperty<Output> {
  a.combineLatest(with: b, combine: combine)
}

/// Returns a property with the current values of two properties.
public func combineLatest<A: DerivableProperty, B: DerivableProperty>(
  _ a: A, _ b: B
) -> AnyProperty<(A.Element, B.Element)> {
  a.combineLatest(with: b)
}

/// Returns a property that combines the current values of three properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, combine: @escaping (A.Element, B.Element, C.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, combine: combine)
}

/// Returns a property with the current values of three properties.
public func combineLatest<A: DerivableProperty, B: DerivableProperty, C: DerivableProperty>(
  _ a: A, _ b: B, _ c: C
) -> AnyProperty<(A.Element, B.Element, C.Element)> {
  derived(a, b, c) { ($0, $1, $2) }
}

/// Returns a property that combines the current values of four properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, d, combine: combine)
}

/// Returns a property with the current values of four properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element)> {
  derived(a, b, c, d) { ($0, $1, $2, $3) }
}

/// Returns a property that combines the current values of five properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, d, e, combine: combine)
}

/// Returns a property with the current values of five properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element, E.Element)> {
  derived(a, b, c, d, e) { ($0, $1, $2, $3, $4) }
}

/// Returns a property that combines the current values of six properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty, F: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, d, e, f, combine: combine)
}

/// Returns a property with the current values of six properties.
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty, F: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element, E.Element, F.Element)> {
  derived(a, b, c, d, e, f) { ($0, $1, $2, $3, $4, $5) }
}

/// Changes several properties at once; derived properties change after all of them.
///
/// Each property sends all its new values to its observers after `change` returns.
public func inOneTurn<each Property: DerivableProperty>(
  _ property: repeat each Property, change: () -> Void
) {
  var turns: [any TurnTaking] = []
  repeat turns.append((each property).node)
  let held = turns.filter { $0.hold() }
  change()
  for turn in held { turn.release() }
}

/// A node that can defer its changes.
private protocol TurnTaking {
  /// Defers all events sent from now on; returns `false` if they are deferred already.
  func hold() -> Bool

  /// Sends the deferred events to the observers, and settles the dependents.
  func release()
}

extension ValueNode: TurnTaking {
  fileprivate func hold() -> Bool {
    guard !isDelivering else { return false }
    isDelivering = true
    mark()
    return true
  }

  fileprivate func release() {
    endDelivery()
    didSend()
  }
}
