/// Returns a property that combines the current values of two properties.
@inlinable
public func combineLatest<A: DerivableProperty, B: DerivableProperty, Output>(
  _ a: A, _ b: B, combine: @escaping (A.Element, B.Element) -> Output
) -> AnyProperty<Output> {
  a.combineLatest(with: b, combine: combine)
}

/// Returns a property with the current values of two properties.
@inlinable
public func combineLatest<A: DerivableProperty, B: DerivableProperty>(
  _ a: A, _ b: B
) -> AnyProperty<(A.Element, B.Element)> {
  a.combineLatest(with: b)
}

/// Returns a property that combines the current values of three properties.
@inlinable
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, combine: @escaping (A.Element, B.Element, C.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, combine: combine)
}

/// Returns a property with the current values of three properties.
@inlinable
public func combineLatest<A: DerivableProperty, B: DerivableProperty, C: DerivableProperty>(
  _ a: A, _ b: B, _ c: C
) -> AnyProperty<(A.Element, B.Element, C.Element)> {
  derived(a, b, c) { ($0, $1, $2) }
}

/// Returns a property that combines the current values of four properties.
@inlinable
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element) -> Output
) -> AnyProperty<Output> {
  derived(a, b, c, d, combine: combine)
}

/// Returns a property with the current values of four properties.
@inlinable
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element)> {
  derived(a, b, c, d) { ($0, $1, $2, $3) }
}

/// Returns a property that combines the current values of five properties.
@inlinable
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
@inlinable
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element, E.Element)> {
  derived(a, b, c, d, e) { ($0, $1, $2, $3, $4) }
}

/// Returns a property that combines the current values of six properties.
@inlinable
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
@inlinable
public func combineLatest<
  A: DerivableProperty, B: DerivableProperty, C: DerivableProperty, D: DerivableProperty,
  E: DerivableProperty, F: DerivableProperty
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> AnyProperty<(A.Element, B.Element, C.Element, D.Element, E.Element, F.Element)> {
  derived(a, b, c, d, e, f) { ($0, $1, $2, $3, $4, $5) }
}
