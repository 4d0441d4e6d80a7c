/// Why a durable reader is not as it was wanted.
package enum ReaderError: ServiceError, Equatable {
  case unknown(name: String)
  case tooMany(max: Int)

  /// The user has begun as many as one may.
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

/// Readers of the journal whose positions are kept in the journal itself: they go on where they were
/// after a crash of either side.
package final class ReadersService {
  /// The name of the service: its own events are not for its readers, unless they ask for them.
  package static let name = "readers"

  /// How many readers there may be.
  package static let maxCount = 1000

  package let ledger: Ledger<Readers>
  private let host: ServiceHost

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger(Self.name, in: host, isAboutReaders: true)
  }

  /// Begins a reader that there is not, behind a position.
  package func open(_ name: String, at seq: UInt64) throws(ReaderError) {
    guard ledger.newest.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    if let max = host.exhaustedShare(of: Self.maxCount, ledger.newest.count(of:)) {
      throw .tooManyOfUser(max: max)
    }
    ledger.record(.opened(seq: seq), in: "readers/\(name)")
  }

  /// Notes that a reader has done with everything up to a position; one that it had done with
  /// already changes nothing.
  package func acknowledge(_ name: String, upTo seq: UInt64) throws(ReaderError) {
    guard let present = ledger.newest[name] else { throw .unknown(name: name) }
    guard seq > present else { return }
    ledger.record(.acked(seq: seq), in: "readers/\(name)")
  }

  /// Forgets a reader.
  ///
  /// - Returns: Its position.
  package func forget(_ name: String) throws(ReaderError) -> UInt64 {
    guard let present = ledger.newest[name] else { throw .unknown(name: name) }
    ledger.record(.forgotten, in: "readers/\(name)")
    return present
  }
}
