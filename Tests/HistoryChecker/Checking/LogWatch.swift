internal import JSON

/// A reader of events, or of every change of some sources: no gaps and no duplicates.
struct LogWatch: Watch {
  private let name: String
  private let source: String
  private let types: [String]
  private let streams: [String]
  private let journal: [Event]

  /// The index of the first event that may still arrive.
  private var next: Int

  init(_ name: String, _ source: String, _ filter: JSONText?, after: Int, _ journal: [Event]) {
    (self.name, self.source, self.journal) = (name, source, journal)
    let filter = filter?.members ?? [:]
    types = (filter["types"]?.elements ?? []).compactMap(\.string)
    streams = (filter["streams"]?.elements ?? []).compactMap(\.string)
    next = journal.firstIndex { $0.seq > after } ?? journal.count
  }

  private func isWanted(_ event: Event) -> Bool {
    guard source == "events" else { return event.stream.matches(source) }
    let type = event.type.split(separator: ".").joined(separator: "/")
    return
      (types.isEmpty
      || types.contains { type.matches($0.split(separator: ".").joined(separator: "/")) })
      && (streams.isEmpty || streams.contains { event.stream.matches($0) })
  }

  mutating func take(_ notice: Notice, _ timeline: Timeline) throws(Violation) {
    guard let seq = notice.seq else { return }
    guard notice.method == "next" else { return try pass(seq) }
    // Events before the known part cannot be checked.
    guard seq > timeline.start else { return }
    while next < journal.count, !isWanted(journal[next]) { next += 1 }
    guard next < journal.count, seq >= journal[next].seq else {
      throw Violation(.gap, "\(name) received \(seq) again, or of what it does not want")
    }
    let event = journal[next]
    guard seq == event.seq else {
      throw Violation(.gap, "\(name) received \(seq), and has missed \(event.seq)")
    }
    next += 1
    if let told = notice.params["event"] {
      guard told.isEquivalent(to: event.text) else {
        throw Violation(
          .meaning, "\(name) was informed that \(seq) is \(told), and it is \(event.text)")
      }
    } else if notice.params["changes"] == nil {
      try timeline.check(notice.params["value"], of: event.stream, at: seq, name)
    }
  }

  /// Records that everything up to a position has arrived.
  private mutating func pass(_ seq: Int) throws(Violation) {
    try checkShown(upTo: seq)
    while next < journal.count, journal[next].seq <= seq { next += 1 }
  }

  func checkShown(upTo seq: Int, asOf now: Int, _ timeline: Timeline) throws(Violation) {
    try checkShown(upTo: seq)
  }

  private func checkShown(upTo seq: Int) throws(Violation) {
    let missed = journal[next...].prefix { $0.seq <= seq }.first(where: isWanted)
    guard let missed else { return }
    throw Violation(.gap, "\(name) is at \(seq), and has missed \(missed.seq)")
  }
}
