package import EventSourcing
package import JSON
internal import Wire

/// An error from creating or changing a durable reader.
package enum ReaderError: ServiceError, Equatable {
  case unknown(name: String)

  /// The reader is not shared, or has no such parked event.
  case notParked(name: String, seq: UInt64?)
  case tooMany(max: Int)

  /// The user has reached the per-user limit.
  case tooManyOfUser(max: Int)

  package var kind: ServiceErrorKind {
    switch self {
    case .unknown(let name): .notFound(what: "reader", id: name)
    case .notParked: .rejected(reason: "not_parked")
    case .tooMany, .tooManyOfUser: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .unknown(let name): "there is no reader '\(name)'"
    case .notParked(let name, let seq?): "reader '\(name)' has not parked event \(seq)"
    case .notParked(let name, nil): "reader '\(name)' has parked no events"
    case .tooMany(let max): "the daemon keeps at most \(max) readers"
    case .tooManyOfUser(let max):
      "the daemon keeps at most \(max) readers of one user; remove some with readers.remove"
    }
  }
}

/// Durable readers, whose positions are stored in the journal.
///
/// They resume after a crash of either side.
package final class ReadersService {
  /// The name of the service; readers do not receive its events unless they ask for them.
  package static let name = "readers"

  /// The maximum number of readers.
  package static let maxCount = 1000

  package let ledger: Ledger<Readers>
  private let host: ServiceHost

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger(Self.name, in: host, isAboutReaders: true)
  }

  /// Creates a reader that starts after a position.
  package func open(_ name: String, at seq: UInt64, isShared: Bool = false) throws(ReaderError) {
    guard ledger.pending.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(of: Self.maxCount, ledger.pending.count(of:)) {
      throw .tooManyOfUser(max: max)
    }
    ledger.record(.opened(seq: seq, share: isShared ? true : nil), in: "readers/\(name)")
  }

  /// The last durable position of an event that does not record the position of a reader.
  var lastNews: UInt64 { host.durableNews }

  /// Whether the readers of this journal are in use here, and not at another daemon.
  var isActive: Bool { host.isActive }

  /// Acknowledges all events up to a position; does nothing if they were acknowledged before.
  package func acknowledge(_ name: String, upTo seq: UInt64) throws(ReaderError) {
    guard let present = ledger.pending[name] else { throw .unknown(name: name) }
    guard seq > present else { return }
    ledger.record(.acked(seq: seq), in: "readers/\(name)")
  }

  // MARK: Shared readers

  /// Finishes one event of a shared reader, and everything up to a position.
  package func finish(_ name: String, _ seq: UInt64, floor: UInt64) throws(ReaderError) {
    guard ledger.pending.shared(name) != nil else { throw .unknown(name: name) }
    ledger.record(.finished(seq: seq, floor: floor), in: "readers/\(name)")
  }

  /// Puts an event of a shared reader aside.
  package func park(
    _ name: String, _ seq: UInt64, reason: String, deliveries: Int, floor: UInt64
  ) throws(ReaderError) {
    guard ledger.pending.shared(name) != nil else { throw .unknown(name: name) }
    ledger.record(
      .parked(seq: seq, reason: reason, deliveries: deliveries, floor: floor),
      in: "readers/\(name)")
  }

  /// Delivers parked events again.
  ///
  /// - Parameter seq: The event; `nil` for all.
  /// - Returns: The number of events.
  package func retry(_ name: String, _ seq: UInt64?) throws(ReaderError) -> Int {
    let seqs = try parked(name, seq)
    ledger.record(.retried(seqs: seqs), in: "readers/\(name)")
    return seqs.count
  }

  /// Drops parked events: they count as finished.
  ///
  /// - Parameter seq: The event; `nil` for all.
  /// - Returns: The number of events.
  package func drop(_ name: String, _ seq: UInt64?) throws(ReaderError) -> Int {
    let seqs = try parked(name, seq)
    ledger.record(.dropped(seqs: seqs), in: "readers/\(name)")
    return seqs.count
  }

  private func parked(_ name: String, _ seq: UInt64?) throws(ReaderError) -> [UInt64] {
    guard ledger.pending[name] != nil else { throw .unknown(name: name) }
    let parked = ledger.pending.shared(name)?.parked ?? [:]
    guard !parked.isEmpty, seq.map({ parked[$0] != nil }) ?? true else {
      throw .notParked(name: name, seq: seq)
    }
    return seq.map { [$0] } ?? parked.keys.sorted()
  }

  /// Removes a reader.
  ///
  /// - Returns: Its position.
  package func remove(_ name: String) throws(ReaderError) -> UInt64 {
    guard let present = ledger.pending[name] else { throw .unknown(name: name) }
    ledger.record(.removed, in: "readers/\(name)")
    return present
  }
}

/// The events of durable readers; the stream is `readers/NAME`.
package enum ReaderEvent: ServiceEvent, Codable, Equatable {
  /// A reader was created, starting after a position.
  ///
  /// - Parameter share: Whether several subscriptions share its events; `nil` for no.
  case opened(seq: UInt64, share: Bool? = nil)

  /// The reader acknowledged all events up to a position.
  case acked(seq: UInt64)
  case removed

  /// One event of a shared reader is finished, and everything up to a position.
  case finished(seq: UInt64, floor: UInt64)

  /// An event of a shared reader was parked. `floor` is the position up to which all events are
  /// done.
  case parked(seq: UInt64, reason: String, deliveries: Int, floor: UInt64)

  /// Parked events are to be delivered again.
  case retried(seqs: [UInt64])

  /// Parked events count as finished.
  case dropped(seqs: [UInt64])

  package static var kinds: Set<String> {
    ["opened", "acked", "removed", "finished", "parked", "retried", "dropped"]
  }
}

/// The acknowledged positions of durable readers.
package struct Readers: ServiceState, Codable {
  /// The positions by full name, for example `"readers/mailer"`.
  private var positions: [String: UInt64] = [:]

  /// The uid of each reader's creator, by full name; snapshots of earlier versions lack it.
  private var makers: [String: UInt32]? = [:]

  /// The shared readers by full name; snapshots of earlier versions lack them.
  private var readings: [String: SharedReading]?

  package init() {}

  package mutating func apply(_ event: ReaderEvent, at place: EventContext) {
    guard fault(of: event, at: place) == nil else { return }
    let stream = place.stream
    switch event {
    case .opened(let seq, let share):
      positions[stream] = seq
      makers = makers ?? [:]
      makers?[stream] = place.uid
      if share == true { readings = readings ?? [:] }
      readings?[stream] = share == true ? SharedReading() : nil
    case .acked(let seq): positions[stream] = seq
    case .finished(let seq, let floor):
      rise(stream, to: floor)
      readings?[stream]?.finish(seq, floor: floor)
    case .parked(let seq, let reason, let deliveries, let floor):
      rise(stream, to: floor)
      readings?[stream]?.park(
        seq, .init(reason: reason, deliveries: deliveries, since: place.time), floor: floor)
    case .retried(let seqs): readings?[stream]?.retry(seqs)
    case .dropped(let seqs): readings?[stream]?.drop(seqs, floor: positions[stream] ?? 0)
    case .removed:
      positions[stream] = nil
      makers?[stream] = nil
      readings?[stream] = nil
    }
  }

  private mutating func rise(_ stream: String, to floor: UInt64) {
    positions[stream] = max(positions[stream] ?? 0, floor)
  }

  /// Returns the progress of a shared reader; `nil` if it does not exist.
  package func shared(_ name: String) -> SharedReading? { readings?["readers/\(name)"] }

  /// Checks that a position is not after the event that records it.
  package func fault(of event: ReaderEvent, at place: EventContext) -> String? {
    switch event {
    case .opened(let seq, _), .acked(let seq):
      seq <= place.seq ? nil : "position \(seq) is after the event"
    case .finished(let seq, let floor), .parked(let seq, _, _, let floor):
      max(seq, floor) <= place.seq ? nil : "position \(max(seq, floor)) is after the event"
    case .removed, .retried, .dropped: nil
    }
  }

  /// The names of all readers, in order.
  var names: [String] { positions.keys.map { String($0.dropFirst("readers/".count)) }.sorted() }

  /// The number of readers.
  var count: Int { positions.count }

  /// Returns the number of readers that a user has created.
  func count(of uid: UInt32) -> Int { makers?.values.count { $0 == uid } ?? 0 }

  /// Returns the position of a reader by its name without `readers/`, or `nil` if it does not
  /// exist.
  package subscript(name: String) -> UInt64? { positions["readers/\(name)"] }

  package func value(of source: String) -> JSONText? {
    guard let position = positions[source] else { return nil }
    guard let reading = readings?[source] else {
      return JSONText(member: "seq", JSONText(position))
    }
    var text = ByteBuffer()
    text.object {
      $0.member("seq", position)
      reading.write(to: &$0)
    }
    return JSONText(trusted: text.string)
  }

  package var sources: some Sequence<String> { positions.keys }

  package static func sources(changedBy event: ReaderEvent, at place: EventContext) -> [String] {
    [place.stream]
  }
}
