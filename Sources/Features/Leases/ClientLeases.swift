internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// The leases of connected clients, which end with their connections.
package final class ClientLeases {
  private let service: LeasesService

  /// The names of the leases by connection id.
  private var leases: [UInt64: [String]] = [:]

  package init(_ service: LeasesService) {
    self.service = service
  }

  /// Returns the lease of a client's connection, and grants it if necessary; call it within a
  /// command.
  func own(_ context: CallContext) throws(LeasesError) -> String {
    if let name = known(context) { return name }
    let name = try service.grant(to: context.caller, ttl: nil)
    hold(name, for: context)
    return name
  }

  /// Returns the lease of a client's connection; `nil` if it has none.
  func known(_ context: CallContext) -> String? {
    leases[context.connection.id]?.first { service.ledger.pending[$0] != nil }
  }

  /// Returns the lease that an option of a call names; call it within a command.
  func lease(_ option: LeaseOption, _ context: CallContext) throws(LeasesError) -> String {
    switch option {
    case .connection: return try own(context)
    case .ttl(let milliseconds):
      return try service.grant(to: context.caller, ttl: milliseconds)
    case .granted(let name):
      try context.withKnownLease { () throws(LeasesError) in
        _ = try service.lease(name, of: context.caller)
      }
      return name
    }
  }

  /// Lets a lease end with a client's connection.
  func hold(_ name: String, for context: CallContext) {
    let connection = context.connection
    service.hold(name)
    if leases[connection.id] == nil {
      connection.attach(
        .leases,
        BlockDisposable { [weak self, id = connection.id, weak connection] in
          self?.end(id, isStopping: connection?.context.isStopping ?? true)
        })
    }
    // Those that have ended, or whose command was refused.
    leases[connection.id]?.removeAll { name in
      guard !service.keeps(name) else { return false }
      connection.drop(.lease, name)
      return true
    }
    leases[connection.id, default: []].append(name)
    connection.keep(.lease, name, .null)
  }

  /// Takes the leases back that connections had with an earlier daemon.
  func restore(_ catalog: Catalog) {
    catalog.restore(.lease) { [self] context, items, _ throws(CannotRestore) in
      for item in items {
        do throws(LeasesError) {
          try service.resume(item.key, by: context.caller)
          hold(item.key, for: context)
        } catch {
          // A lease that has ended is kept until the client has another one.
          guard case .notFound = error else { throw CannotRestore("\(error)") }
        }
      }
    }
  }

  /// Stops the TTL of a lease while its owner waits for a lock.
  func pause(_ name: String) { service.pause(name) }

  /// Begins the TTL of a lease that was paused.
  func begin(_ name: String, by caller: Peer) throws(Refusal) {
    try service.begin(name, by: caller)
  }

  /// Ends a lease that its owner does not know.
  func discard(_ name: String) { service.discard(name) }

  private func end(_ id: UInt64, isStopping: Bool) {
    let names = leases.removeValue(forKey: id) ?? []
    // Leases wait for their clients while the daemon restarts.
    guard !isStopping else { return }
    for name in names { service.drop(name) }
  }
}
