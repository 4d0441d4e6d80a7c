/// A subject that never fails.
public typealias SafePassthroughSubject<Element> = PassthroughSubject<Element, Never>

/// A replaying subject that never fails.
public typealias SafeReplaySubject<Element> = ReplaySubject<Element, Never>

/// A subject that replays one element and never fails.
public typealias SafeReplayOneSubject<Element> = ReplayOneSubject<Element, Never>
