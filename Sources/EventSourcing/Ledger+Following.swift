internal import Journal
internal import Model

extension Ledger {
  /// Applies an event that another daemon on the same journal has recorded.
  ///
  /// - Parameters:
  ///   - number: The number of its stream.
  ///   - note: Called with the effect on the charges, before anybody sees the event.
  /// - Throws: ``JournalError`` if this daemon cannot apply the event. It must stop then.
  func apply(
    _ record: Record, _ number: Int,
    _ note: (FollowedEffect) -> Void
  ) throws(JournalError) {
    if reader.isOther(record) { return applyOther(record, number, note) }
    guard let event = try reader.known(record) else { return note(FollowedEffect()) }
    let place = EventContext(record, in: stream(number))
    if let rule = State.Lookup.fault(of: event, at: place, self) {
      throw .corrupt(seq: record.seq, detail: "\(record.type) in \(record.stream): \(rule)")
    }
    let effect = State.Lookup.follow(event, at: place, self)
    if let fault = effect.fault {
      throw .notUnderstood(seq: record.seq, detail: "\(record.type) in \(record.stream): \(fault)")
    }
    note(effect)
    State.Lookup.show(event, at: place, self)
    tell(event, at: place)
  }
}
