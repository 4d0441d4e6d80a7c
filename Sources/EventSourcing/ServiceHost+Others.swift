package import Journal
package import Model
internal import Signals

extension ServiceHost {
  /// Charges the time of folds that run within the commands of others.
  package func chargeFolds(_ charge: @escaping (_ folds: () -> Void) -> Void) {
    routes.charge = charge
  }

  /// Returns the events of some types, with their forms.
  func otherEvents(_ types: Set<String>) -> OtherEvents {
    types.isEmpty ? .none : OtherEvents(types, eventForms)
  }

  /// Lets the ledger with a number get the events of some types.
  func setRoutes(_ types: Set<String>, to ledger: Int) { routes.set(types, of: ledger) }

  /// Charges the writers of the files, who administer the daemon, for state.
  func charge(_ effect: FollowedEffect) {
    for (stream, growth) in effect.others {
      _ = appender.grow(stream, in: streamNames, by: growth, for: daemon.uid)
    }
    for stream in effect.released { store.release(stream) }
  }

  /// Passes an event of another daemon on to the states of other services that consist of it.
  ///
  /// - Parameter isFollowed: Whether this daemon follows; otherwise the store has moved on.
  func route(
    _ record: Record, in stream: Int, isFollowed: Bool
  ) throws(JournalError) {
    for ledger in ledgers(for: record.type) {
      try ledger.apply(record, stream) { effect in
        guard isFollowed else { return }
        for (other, growth) in effect.others {
          store.followGrowth(of: other, by: growth, for: daemon.uid)
        }
        for stream in effect.released { store.followRelease(of: stream) }
      }
    }
  }
}

extension ServiceHost {
  /// The services whose states lack events, and which fold those of others.
  package var incompleteFolds: [IncompleteFold] {
    ledgers.compactMap { ledger in
      let others = ledger.foreign.events().services
      guard !ledger.isKept, !others.isEmpty else { return nil }
      return IncompleteFold(
        service: ledger.service, others: others, makeProjection: ledger.makeProjection)
    }
  }
}

/// A service whose state lacks events, and which folds those of others.
///
/// It writes no snapshots, so the next start needs all events after its last one.
package struct IncompleteFold: Sendable {
  private let service: String

  /// The services whose events it folds.
  package let others: Set<String>
  private let makeProjection: @Sendable () -> any Projection

  init(
    service: String, others: Set<String>, makeProjection: @escaping @Sendable () -> any Projection
  ) {
    (self.service, self.others, self.makeProjection) = (service, others, makeProjection)
  }

  /// Returns the position of the snapshot from which the next start goes on; 0 if there is none.
  package func snapshot(_ reader: any JournalReader) throws(JournalError) -> UInt64 {
    let projection = makeProjection()
    return try ReplayStart(
      upTo: try reader.bounds().last, form: projection.snapshotForm,
      { end throws(JournalError) in try reader.snapshot(of: service, upTo: end) },
      projection.start(from:)
    ).position
  }
}

extension Ledger {
  /// The types of the events of other services that the state gets.
  package var otherTypes: Set<String> {
    get { reader.others.types }
    set {
      guard newValue != reader.others.types else { return }
      reader.others = host.otherEvents(newValue)
      host.setRoutes(newValue, to: number)
    }
  }

  /// Lets the state get the events of other services that it consists of from the beginning.
  @usableFromInline
  func followOthers(from initial: State) {
    guard !initial.otherTypes.isEmpty else { return }
    otherTypes = initial.otherTypes
    setInitial(initial)
  }

  /// Applies an event of another service that the running command has recorded.
  func follow(_ routed: RoutedEvent) -> FollowedEffect {
    guard let event = State.event(ofOther: routed.type, routed.data) else {
      return FollowedEffect()
    }
    let pending = PendingEvent(
      event, stream: routed.stream, appended: routed.appended, time: routed.time,
      user: routed.user)
    recorded.append(pending)
    if State.Lookup.needsNames { inverses.append(nil) }
    return State.Lookup.followOther(
      event, at: place(of: pending, in: stream(routed.stream)), self)
  }

  /// Applies a durable event of another service, which another daemon has recorded.
  func applyOther(_ record: Record, _ number: Int, _ note: (FollowedEffect) -> Void) {
    guard let event = reader.event(of: record) else { return note(FollowedEffect()) }
    let place = EventContext(record, in: stream(number))
    note(State.Lookup.followOther(event, at: place, self))
    State.Lookup.show(event, at: place, self)
    tell(event, at: place)
  }
}
