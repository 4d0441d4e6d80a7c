/// A subject that never fails.
package typealias SafePassthroughSubject<Element> = PassthroughSubject<Element, Never>

/// A replaying subject that never fails.
package typealias SafeReplaySubject<Element> = ReplaySubject<Element, Never>

/// A subject that replays one element and never fails.
package typealias SafeReplayOneSubject<Element> = ReplayOneSubject<Element, Never>
