package import JSON

/// What can happen to the durable readers; the stream is `readers/NAME`.
package enum ReaderEvent: ServiceEvent, Codable, Equatable {
  /// There is one; it begins behind a position.
  case opened(seq: UInt64)

  /// It has done with everything up to a position.
  case acked(seq: UInt64)
  case forgotten

  package static var kinds: Set<String> { ["opened", "acked", "forgotten"] }
}

/// Up to where the durable readers have done with the events of the journal.
package struct Readers: ServiceState {
  /// By whole name, for example `"readers/mailer"`.
  private var positions: [String: UInt64] = [:]

  /// Who has begun them, by whole name; snapshots of earlier versions have none.
  private var makers: [String: UInt32]? = [:]

  package init() {}

  package mutating func apply(_ event: ReaderEvent, at place: Place) {
    guard fault(of: event, at: place) == nil else { return }
    switch event {
    case .opened(let seq):
      positions[place.stream] = seq
      makers = makers ?? [:]
      makers?[place.stream] = place.uid
    case .acked(let seq): positions[place.stream] = seq
    case .forgotten:
      positions[place.stream] = nil
      makers?[place.stream] = nil
    }
  }

  /// Nobody has done with what comes later.
  package func fault(of event: ReaderEvent, at place: Place) -> String? {
    switch event {
    case .opened(let seq), .acked(let seq):
      seq <= place.seq ? nil : "position \(seq) is after the event"
    case .forgotten: nil
    }
  }

  /// How many there are.
  var count: Int { positions.count }

  /// How many a user has begun.
  func count(of uid: UInt32) -> Int { makers?.values.count { $0 == uid } ?? 0 }

  /// The position of one, by its name without `readers/`; `nil` when there is none.
  package subscript(name: String) -> UInt64? { positions["readers/\(name)"] }

  package func value(of source: String) -> JSONText? {
    positions[source].map { JSONText(member: "seq", JSONText($0)) }
  }

  package var sources: some Sequence<String> { positions.keys }

  package static func sources(changedBy event: ReaderEvent, at place: Place) -> [String] {
    [place.stream]
  }
}
