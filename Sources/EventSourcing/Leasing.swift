/// A part of a service's state that can end with a lease, for example a cell or a key of a map.
///
/// It is named by the event that removes it.
package struct LeasedPart: Hashable, Codable, Sendable {
  /// The stream of the event.
  package let stream: String

  /// The kind of the removing event, for example `"removed"`.
  package let kind: String

  /// The data of the removing event, JSON.
  package let data: String

  package init(stream: String, kind: String, data: String) {
    (self.stream, self.kind, self.data) = (stream, kind, data)
  }
}

/// The leases, as the host sees them.
package protocol LeaseKeeper: AnyObject {
  /// Whether nothing ends with a lease.
  ///
  /// The host then reports no part that is written without one.
  var isEmpty: Bool { get }

  /// Returns the position of the event with which a part of a stream was attached to its lease; `nil` if
  /// none is.
  func position(of stream: String) -> UInt64?

  /// Records, within the running command, that a part was written.
  ///
  /// - Parameter lease: The lease that the part ends with; `nil` if it was written without one, or
  ///   removed.
  /// - Returns: The error of the command if the lease can have no more parts.
  func recordWrite(_ part: LeasedPart, under lease: String?) -> (any ServiceError)?
}

/// The error of a command with a lease that writes what cannot end with one.
struct NotLeasable: ServiceError, Equatable {
  let stream: String

  var kind: ServiceErrorKind { .rejected(reason: "not_leasable") }

  var description: String {
    "what this call writes in '\(stream)' cannot end with a lease; cells, keys of maps and locks can"
  }
}
