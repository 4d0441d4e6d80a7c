/// Emits the elements of two signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error
{
  a.merge(with: b)
}

/// Emits the elements of three signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error
{
  merge(a, b).merge(with: c)
}

/// Emits the elements of four signals in the order of arrival.
public func merge<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error
{
  merge(a, b, c).merge(with: d)
}

/// Emits the elements of five signals in the order of arrival.
public func merge<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error
{
  merge(a, b, c, d).merge(with: e)
}

/// Emits the elements of six signals in the order of arrival.
public func merge<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error,
  A.Element == E.Element, A.Error == E.Error,
  A.Element == F.Element, A.Error == F.Error
{
  merge(a, b, c, d, e).merge(with: f)
}
