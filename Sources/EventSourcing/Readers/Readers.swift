package import JSON

/// The events of durable readers; the stream is `readers/NAME`.
package enum ReaderEvent: ServiceEvent, Codable, Equatable {
  /// A reader was created, starting after a position.
  case opened(seq: UInt64)

  /// The reader acknowledged all events up to a position.
  case acked(seq: UInt64)
  case forgotten

  package static var kinds: Set<String> { ["opened", "acked", "forgotten"] }
}

/// The acknowledged positions of durable readers.
package struct Readers: ServiceState {
  /// The positions by full name, for example `"readers/mailer"`.
  private var positions: [String: UInt64] = [:]

  /// The uid of each reader's creator, by full name; snapshots of earlier versions lack it.
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

  /// Checks that a position is not after the event that records it.
  package func fault(of event: ReaderEvent, at place: Place) -> String? {
    switch event {
    case .opened(let seq), .acked(let seq):
      seq <= place.seq ? nil : "position \(seq) is after the event"
    case .forgotten: nil
    }
  }

  /// The number of readers.
  var count: Int { positions.count }

  /// Returns the number of readers that a user has created.
  func count(of uid: UInt32) -> Int { makers?.values.count { $0 == uid } ?? 0 }

  /// Returns the position of a reader by its name without `readers/`, or `nil` if it does not
  /// exist.
  package subscript(name: String) -> UInt64? { positions["readers/\(name)"] }

  package func value(of source: String) -> JSONText? {
    positions[source].map { JSONText(member: "seq", JSONText($0)) }
  }

  package var sources: some Sequence<String> { positions.keys }

  package static func sources(changedBy event: ReaderEvent, at place: Place) -> [String] {
    [place.stream]
  }
}
