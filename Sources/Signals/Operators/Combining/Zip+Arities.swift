/// Emits the combination of the elements at the same position of two signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, Output
>(
  _ a: A, _ b: B,
  combine: @escaping (A.Element, B.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error {
  a.zip(with: b, combine: combine)
}

/// Emits the elements at the same position of two signals.
public func zip<A: SignalProtocol, B: SignalProtocol>(
  _ a: A, _ b: B
) -> Signal<(A.Element, B.Element), A.Error> where A.Error == B.Error {
  a.zip(with: b)
}

/// Emits the combination of the elements at the same position of three signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C,
  combine: @escaping (A.Element, B.Element, C.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error {
  zip(a, b).zip(with: c) { combine($0.0, $0.1, $1) }
}

/// Emits the elements at the same position of three signals.
public func zip<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol>(
  _ a: A, _ b: B, _ c: C
) -> Signal<(A.Element, B.Element, C.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error {
  zip(a, b).zip(with: c) { ($0.0, $0.1, $1) }
}

/// Emits the combination of the elements at the same position of four signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element) -> Output
) -> Signal<Output, A.Error> where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  zip(a, b, c).zip(with: d) { combine($0.0, $0.1, $0.2, $1) }
}

/// Emits the elements at the same position of four signals.
public func zip<A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol>(
  _ a: A, _ b: B, _ c: C, _ d: D
) -> Signal<(A.Element, B.Element, C.Element, D.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error {
  zip(a, b, c).zip(with: d) { ($0.0, $0.1, $0.2, $1) }
}

/// Emits the combination of the elements at the same position of five signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element) -> Output
) -> Signal<Output, A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  zip(a, b, c, d).zip(with: e) { combine($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the elements at the same position of five signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element), A.Error>
where A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error {
  zip(a, b, c, d).zip(with: e) { ($0.0, $0.1, $0.2, $0.3, $1) }
}

/// Emits the combination of the elements at the same position of six signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol, Output
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F,
  combine: @escaping (A.Element, B.Element, C.Element, D.Element, E.Element, F.Element) -> Output
) -> Signal<Output, A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  zip(a, b, c, d, e).zip(with: f) { combine($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}

/// Emits the elements at the same position of six signals.
public func zip<
  A: SignalProtocol, B: SignalProtocol, C: SignalProtocol, D: SignalProtocol, E: SignalProtocol,
  F: SignalProtocol
>(
  _ a: A, _ b: B, _ c: C, _ d: D, _ e: E, _ f: F
) -> Signal<(A.Element, B.Element, C.Element, D.Element, E.Element, F.Element), A.Error>
where
  A.Error == B.Error, A.Error == C.Error, A.Error == D.Error, A.Error == E.Error, A.Error == F.Error
{
  zip(a, b, c, d, e).zip(with: f) { ($0.0, $0.1, $0.2, $0.3, $0.4, $1) }
}
