public import JSON
public import Journal
public import Signals

/// A state by number: its values after the events that are not durable yet.
extension Ledger {
  /// Records an event that gives the source of its stream a value.
  @inlinable
  @inline(__always)
  func record(
    numbered event: State.Event, _ kind: String, in number: Int, _ host: ServiceHost
  ) {
    let before = pendingValue(numbered: number, host)
    let growth = size(of: State.value(after: event)) - size(of: before)
    let appended = host.record(type(kind), in: number, growing: growth, by: self.number)
    recorded.append(
      Pending(
        event, inverse: nil, stream: number, appended: appended, time: host.running.time,
        user: host.running.user))
    if appended.isBare { releaseEmpty(number) }
  }

  /// Returns the value of a source after all recorded events; only for a state by number.
  @inlinable
  func pendingValue(numbered number: Int, _ host: ServiceHost) -> JSONText? {
    let seq = host.lastPosition(of: number)
    guard seq > host.durable, let event = pendingEvent(at: seq) else {
      return committed.value(numbered: number)
    }
    return State.value(after: event)
  }

  /// Returns the recorded event at a position; `nil` if it is durable or of another service.
  @inlinable
  func pendingEvent(at seq: UInt64) -> State.Event? {
    guard let first = recorded.first?.appended.seq, seq >= first else { return nil }
    // The place of the event if all events since the oldest one are of this service, and the last
    // place where it can be.
    var (low, high) = (0, min(recorded.count &- 1, Int(seq &- first)))
    while low < high, recorded[high].appended.seq != seq {
      let middle = (low &+ high) / 2
      if recorded[middle].appended.seq < seq { low = middle &+ 1 } else { high = middle }
    }
    return recorded[high].appended.seq == seq ? recorded[high].event : nil
  }

  @inlinable
  func size(of value: JSONText?) -> Int { value?.text.utf8.count ?? 0 }
}

/// The durable sources of a state by number; see ``NumberedState``.
///
/// Their names are valid, so they need no escapes in JSON.
package final class NumberedSources {
  /// Returns the value of the source with the name of a number; `nil` if there is none.
  package let value: (_ number: Int) -> JSONText?

  init(_ value: @escaping (_ number: Int) -> JSONText?) {
    self.value = value
  }
}
