package import EventSourcing
internal import JSON

/// The events of a lease; the lease is the stream.
package enum LeaseEvent: ServiceEvent, Codable, Equatable {
  /// - Parameter ttl: The milliseconds after which it ends unless it is renewed; `nil` if it ends
  ///   with a connection.
  case granted(uid: UInt32, pid: Int32, ttl: Int?)
  case renewed

  /// The calls to run when the lease ends: a JSON array as in `atomic`, their number, and the groups
  /// of the client, which decide on its role; `nil` for no calls.
  case willed(calls: String?, count: Int?, groups: [UInt32]?)

  /// A part of a state was written under the lease.
  case attached(part: LeasedPart)

  /// The part was removed, or written without the lease.
  case detached(part: LeasedPart)
  case ended(reason: LeaseEnd)

  package static var kinds: Set<String> {
    ["granted", "renewed", "willed", "attached", "detached", "ended"]
  }
}

/// The reason why a lease has ended.
package enum LeaseEnd: String, Codable {
  /// Its connection has ended.
  case disconnected

  /// It was not renewed in time.
  case expired

  /// Its owner has ended it.
  case released
}
