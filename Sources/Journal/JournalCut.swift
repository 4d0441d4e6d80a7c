package import Model

/// A journal as it was at a moment of the past, without the events behind it.
package struct JournalCut: JournalOrigin {
  /// The moment.
  package enum Moment: Equatable, Sendable {
    /// The last position.
    case position(UInt64)

    /// The time of the last event or later, in microseconds since 1970.
    case time(Int64)
  }

  private let base: any JournalOrigin
  private let moment: Moment

  package init(_ base: any JournalOrigin, at moment: Moment) {
    (self.base, self.moment) = (base, moment)
  }

  package var name: String { base.name }
  package var daemon: String { base.daemon }
  package var epoch: String { base.epoch }
  package var first: UInt64 { base.first }
  package var last: UInt64 { base.last }

  /// - Throws: ``JournalError/outOfRange(first:last:)`` if the journal has no such moment.
  package func read(
    after seq: UInt64, onPage: (UInt64) -> Void,
    _ body: (JournalPart) throws(JournalError) -> Void
  ) throws(JournalError) {
    if case .position(let seq) = moment, seq > base.last || seq + 1 < base.first {
      throw .outOfRange(first: base.first, last: base.last)
    }
    var (last, isEarly): (UInt64, Bool) = (0, false)
    try base.read(after: seq, onPage: onPage) { part throws(JournalError) in
      switch part {
      case .events(let records):
        let kept = records.prefix(while: isBefore)
        guard let end = kept.last else {
          if last == 0, case .time = moment { isEarly = true }
          return
        }
        last = end.seq
        try body(.events(Array(kept)))
      case .removals(let removals):
        if case .position(let seq) = moment { last = seq }
        guard !isEarly else {
          throw .unavailable(detail: "\(name) has no events that are so old")
        }
        guard last > 0 || base.first == 1 else {
          throw .outOfRange(first: base.first, last: base.last)
        }
        try body(.removals(removals.cut(at: last)))
      case .notes(var notes):
        // The clock for the age of events has gone on.
        notes[.age] = nil
        try body(.notes(notes))
      case .snapshot(let snapshot):
        if snapshot.seq <= last { try body(.snapshot(snapshot)) }
      }
    }
  }

  private func isBefore(_ record: Record) -> Bool {
    switch moment {
    case .position(let seq): record.seq <= seq
    case .time(let time): record.time <= time
    }
  }
}

extension KnownRemovals {
  /// Returns the removals up to a position.
  ///
  /// A removal of unknown extent counts up to that position.
  fileprivate func cut(at last: UInt64) -> KnownRemovals {
    var cut = KnownRemovals()
    for stretch in stretches where stretch.range.lowerBound <= last {
      let range = stretch.range.lowerBound...min(stretch.range.upperBound, last)
      cut.stretches.append(Stretch(range: range, services: stretch.services))
    }
    for (service, seq) in services {
      let within = cut.stretches.filter {
        service == Removal.anyService || $0.services.contains(service)
      }
      let end = seq <= last ? seq : within.map(\.range.upperBound).max()
      if let end { cut.services[service] = end }
    }
    return cut
  }
}
