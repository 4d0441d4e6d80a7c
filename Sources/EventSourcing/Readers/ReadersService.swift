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
      "the daemon keeps at most \(max) readers of one user; forget some with readers.forget"
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
  package func forget(_ name: String) throws(ReaderError) -> UInt64 {
    guard let present = ledger.newest[name] else { throw .unknown(name: name) }
    ledger.record(.forgotten, in: "readers/\(name)")
    return present
  }
}
