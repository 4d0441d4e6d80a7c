internal import JSON
internal import Journal
package import Model
package import Signals

extension ServiceHost {
  /// Folds all events of a service, off the loop, for a state that replaces the present one.
  ///
  /// Events that become durable meanwhile are not in it; see ``Ledger/replace(with:upTo:from:at:)``.
  ///
  /// - Parameters:
  ///   - initial: The state before the first event that is folded.
  ///   - seq: The position of the last event in this state; 0 for none.
  /// - Returns: A signal of the state, the last position that was read, and the position of the last
  ///   removed event of other services that the state would consist of too; 0 if there is none.
  package func fold<State: ServiceState>(
    _ service: String, from initial: State, after seq: UInt64 = 0
  ) -> Signal<(state: State, seq: UInt64, removed: UInt64), JournalError> {
    let others = otherEvents(initial.otherTypes)
    return reading(.care) { reader throws(JournalError) in
      let bounds = try reader.bounds()
      let removed = try reader.lastRemoval(
        of: JournalProjection.removalName(of: service), upTo: bounds.last)
      guard removed == 0 else {
        throw .outOfRange(first: removed + 1, last: bounds.last)
      }
      let projection = StateProjection<State>(service: service, Names(), from: initial, others)
      var lost: UInt64 = 0
      for other in others.services {
        lost = max(lost, try reader.lastRemoval(of: other, upTo: bounds.last))
      }
      var end = seq
      while end < bounds.last {
        let records = try reader.records(after: end, limit: 512)
        guard let last = records.last else { break }
        for record in records
        where SourceName.isOf(record.stream, service) || projection.isOther(record) {
          if let fault = projection.replay(record) { throw fault }
        }
        end = last.seq
      }
      return (projection.state, max(end, bounds.last), lost)
    }
  }
}

extension SourceName {
  /// Returns whether a stream belongs to a service.
  fileprivate static func isOf(_ stream: String, _ service: String) -> Bool {
    stream == service || isBelow(stream, service)
  }
}

extension Ledger where State: TableState {
  /// Replaces the state, after a change of the rules by which it follows from the events.
  ///
  /// Watchers get the sources that differ.
  ///
  /// - Parameters:
  ///   - state: The state after all durable events.
  ///   - folded: The position of the last event in it. Some that this ledger does not show yet may be
  ///     in it, because a reader has seen them first.
  ///   - initial: The state before the first event, for the past and for snapshots.
  ///   - seq: The position of the change.
  package func replace(with state: State, upTo folded: UInt64, from initial: State, at seq: UInt64)
  {
    setInitial(initial)
    let before = committed
    let names = Set(before.sources).union(pending.sources).union(state.sources)
    let streams = Set(names).union([service]).compactMap { streamNames.number(of: $0) }
    let sizes = streams.map { TableLookup<State>.size(of: $0, self) }
    TableLookup<State>.start(state, self)
    for pending in recorded where pending.appended.seq > folded {
      TableLookup<State>.reapply(
        pending.event, at: place(of: pending, in: stream(pending.stream)), self)
    }
    for (stream, size) in zip(streams, sizes) {
      host.remeasure(
        stream, by: TableLookup<State>.size(of: stream, self) - size,
        isEmpty: TableLookup<State>.isEmpty(stream, self))
    }
    for name in names {
      let (old, new) = (before.value(of: name), state.value(of: name))
      guard old != new else { continue }
      if (old == nil) != (new == nil) { updateName(name, isThere: new != nil) }
      watchers.send(SourceChange(source: name, seq: seq, value: new, before: old))
    }
  }
}

extension Ledger {
  /// Changes the state before the first event, for the past and for snapshots.
  package func setInitial(_ state: State) {
    let others = host.otherEvents(state.otherTypes)
    host.setProjections(of: number) { [service] in
      StateProjection<State>(service: service, Names(), from: state, others)
    }
  }
}
