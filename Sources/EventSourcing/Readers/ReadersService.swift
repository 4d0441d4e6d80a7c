package import JSON

/// An error from creating or changing a durable reader.
package enum ReaderError: ServiceError, Equatable {
  case unknown(name: String)
  case tooMany(max: Int)

  /// The user has reached the per-user limit.
  case tooManyOfUser(max: Int)

  package var kind: ServiceErrorKind {
    switch self {
    case .unknown(let name): .notFound(what: "reader", id: name)
    case .tooMany, .tooManyOfUser: .rejected(reason: "too_many")
    }
  }

  package var description: String {
    switch self {
    case .unknown(let name): "there is no reader '\(name)'"
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
  package func open(_ name: String, at seq: UInt64) throws(ReaderError) {
    guard ledger.newest.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(of: Self.maxCount, ledger.newest.count(of:)) {
      throw .tooManyOfUser(max: max)
    }
    ledger.record(.opened(seq: seq), in: "readers/\(name)")
  }

  /// Acknowledges all events up to a position; does nothing if they were acknowledged before.
  package func acknowledge(_ name: String, upTo seq: UInt64) throws(ReaderError) {
    guard let present = ledger.newest[name] else { throw .unknown(name: name) }
    guard seq > present else { return }
    ledger.record(.acked(seq: seq), in: "readers/\(name)")
  }

  /// Removes a reader.
  ///
  /// - Returns: Its position.
  package func remove(_ name: String) throws(ReaderError) -> UInt64 {
    guard let present = ledger.newest[name] else { throw .unknown(name: name) }
    ledger.record(.removed, in: "readers/\(name)")
    return present
  }
}

/// The events of durable readers; the stream is `readers/NAME`.
package enum ReaderEvent: ServiceEvent, Codable, Equatable {
  /// A reader was created, starting after a position.
  case opened(seq: UInt64)

  /// The reader acknowledged all events up to a position.
  case acked(seq: UInt64)
  case removed

  package static var kinds: Set<String> { ["opened", "acked", "removed"] }
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
    case .removed:
      positions[place.stream] = nil
      makers?[place.stream] = nil
    }
  }

  /// Checks that a position is not after the event that records it.
  package func fault(of event: ReaderEvent, at place: Place) -> String? {
    switch event {
    case .opened(let seq), .acked(let seq):
      seq <= place.seq ? nil : "position \(seq) is after the event"
    case .removed: nil
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
