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
    guard let event = try reader.known(record) else { return note(FollowedEffect()) }
    let stream = stream(number)
    let place = EventContext(record, in: stream)
    if let rule = (State.isNumbered ? committed : pending).fault(of: event, at: place) {
      throw .corrupt(seq: record.seq, detail: "\(record.type) in \(record.stream): \(rule)")
    }
    if State.isNumbered {
      note(effect(numbered: event, in: number))
      show(event, at: place)
      return tell(event, at: place)
    }
    let growth = pending.growth(by: event, in: stream)
    let before = growth == nil ? pending.size(of: stream) : 0
    var effect = FollowedEffect()
    effect.emptied = State.stream(emptiedBy: event, in: stream)
      .flatMap(streamNames.number(of:)).map { ($0, -pending.size(of: self.stream($0))) }
    pending.apply(event, at: place)
    effect.growth = growth ?? pending.size(of: stream) - before
    if isEmpty(number) { effect.released.append(number) }
    if let other = effect.emptied?.stream, isEmpty(other) { effect.released.append(other) }
    note(effect)
    show(event, at: place)
    tell(event, at: place)
  }

  private func effect(numbered event: State.Event, in number: Int) -> FollowedEffect {
    let value = State.value(after: event)
    return FollowedEffect(
      growth: size(of: value) - size(of: committed.value(numbered: number)),
      released: value == nil ? [number] : [])
  }
}

/// The effect of another daemon's event on the charges of streams.
struct FollowedEffect {
  /// The bytes to add to the charge of the event's stream.
  var growth = 0

  /// Another stream whose remaining state the event has removed.
  var emptied: (stream: Int, growth: Int)?

  /// The streams of both that have no state any more.
  var released: [Int] = []
}
