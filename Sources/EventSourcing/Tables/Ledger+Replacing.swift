internal import Journal
package import Model
package import Signals

extension ServiceHost {
  /// Folds all events of a service, off the loop, for a state that replaces the present one.
  ///
  /// Events that become durable meanwhile are not in it; see ``Ledger/replacement(by:)``.
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
  /// Compares another state with the present one, off the loop.
  ///
  /// From now until the replacement is done, both states of the ledger must stay as they are: no
  /// command of the service may run, and the state must not apply the events of others.
  package func replacement(by state: State) -> Signal<StateReplacement<State>, JournalError> {
    host.reading(.long) { [committed] _ throws(JournalError) in
      StateComparison(of: state, with: committed)
    }.map { [self] in StateReplacement($0, in: self) }
  }

  /// Applies an event to the pending state, which has not applied it when it was recorded.
  ///
  /// - Parameters:
  ///   - isOther: Whether it is an event of another service.
  ///   - isDurable: Whether it goes into the durable state too, and watchers get what it changes.
  package func catchUp(
    _ event: State.Event, at place: EventContext, isOther: Bool, isDurable: Bool
  ) {
    let effect =
      isOther
      ? State.Lookup.followOther(event, at: place, self)
      : State.Lookup.follow(event, at: place, self)
    for (stream, growth) in effect.others + [(place.number, effect.growth)] where growth != 0 {
      host.remeasure(stream, by: growth, isEmpty: effect.released.contains(stream))
    }
    if isDurable { State.Lookup.show(event, at: place, self) }
  }

  /// The number of recorded events that are not durable yet.
  package var recordedCount: Int { recorded.count }

  /// Applies the recorded events to the pending state, which has not applied them.
  ///
  /// - Parameter isOther: Whether an event is one of another service.
  package func applyRecorded(_ isOther: (State.Event) -> Bool) {
    for pending in recorded {
      catchUp(
        pending.event, at: place(of: pending, in: stream(pending.stream)),
        isOther: isOther(pending.event), isDurable: false)
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
