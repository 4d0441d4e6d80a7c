/// Emits the elements of whichever of two signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error
{
  a.amb(with: b)
}

/// Emits the elements of whichever of three signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error
{
  amb(a, b).amb(with: c)
}

/// Emits the elements of whichever of four signals sends an event first.
public func amb<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<A.Element, A.Error>
where
  A.Element == B.Element, A.Error == B.Error,
  A.Element == C.Element, A.Error == C.Error,
  A.Element == D.Element, A.Error == D.Error
{
  amb(a, b, c).amb(with: d)
}

/// Emits the elements of whichever of five signals sends an event first.
public func amb<
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
  amb(a, b, c, d).amb(with: e)
}

/// Emits the elements of whichever of six signals sends an event first.
public func amb<
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
  amb(a, b, c, d, e).amb(with: f)
}
