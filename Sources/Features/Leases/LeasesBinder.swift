package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Wire

/// Offers leases to clients.
package func bindLeases(
  _ catalog: Catalog, to leases: LeasesService, _ clients: ClientLeases
) {
  catalog.offer("Leases: when one ends, the values written under it are removed.", leases.ledger)
  catalog.offerSources(
    of: leases.ledger,
    [.init("lease/*", "The owner of the lease, its end, and how much ends with it.", .any)],
    exists: { SourceName.isSource($0, of: "lease") })
  catalog.commandParts.lease = { context, option in try clients.lease(option, context) }
  clients.restore(catalog)

  catalog.command(
    "lease.grant", "Grants a lease; returns its name.", GrantLease.self, writes: ["lease.granted"],
    errors: ["too_many"], site: .session
  ) { context, grant throws(LeasesError) in
    guard let ttl = grant.ttl_ms else { return try clients.own(context) }
    return try leases.grant(to: context.caller, ttl: ttl)
  }
  catalog.command(
    "lease.renew", "Starts the ttl of a lease again; returns it in milliseconds.",
    NamedLease.self, writes: ["lease.renewed"], errors: ["no_ttl", "not_owner"]
  ) { context, named throws(LeasesError) in
    try context.withKnownLease { () throws(LeasesError) in
      try leases.renew(named.lease, by: context.caller)
    }
  }
  catalog.command(
    "lease.resume", "Takes over the lease of a connection that ended with the daemon.",
    NamedLease.self, writes: [], errors: ["has_ttl", "in_use", "not_owner"], site: .session
  ) { context, named throws(LeasesError) in
    try context.withKnownLease { () throws(LeasesError) in
      try leases.resume(named.lease, by: context.caller)
    }
    clients.hold(named.lease, for: context)
    return Nothing()
  }
  catalog.command(
    "lease.release", "Ends a lease now, without its will.", NamedLease.self,
    writes: nil, errors: ["not_owner", "too_many"]
  ) { context, named throws(LeasesError) in
    try context.withKnownLease { () throws(LeasesError) in
      try leases.release(named.lease, by: context.caller)
    }
    return Nothing()
  }
  catalog.command(
    "will", "Sets the commands that run when the connection ends; returns its lease.", Will.self,
    writes: ["lease.granted", "lease.willed"], errors: ["too_many"], site: .session
  ) { context, will throws(LeasesError) in
    let isWithdrawn = will.calls.text == "[]"
    var count = 0
    if !isWithdrawn {
      do throws(WireError) {
        count = try context.steps(ofCalls: will.calls).count
      } catch {
        throw .badWill(rule: error.message)
      }
    }
    let lease = try clients.own(context)
    try leases.setWill(
      isWithdrawn ? nil : (will.calls.text, count), of: lease, by: context.caller)
    return lease
  }
}

extension Feature {
  package static func leases(_ leases: LeasesService, _ clients: ClientLeases) -> Feature {
    Feature(
      configure: {
        leases.maxPerUser = $0.limits.leasesPerUser
        leases.graceMilliseconds = $0.limits.leaseGraceMilliseconds
      }, begin: leases.start, stop: leases.stop
    ) { bindLeases($0, to: leases, clients) }
  }
}

extension CallContext {
  /// Uses a lease; one of another user does not exist for a role that may not know it.
  func withKnownLease<Value>(
    _ body: () throws(LeasesError) -> Value
  ) throws(LeasesError) -> Value {
    do throws(LeasesError) {
      return try body()
    } catch {
      guard case .notOwner(let id) = error, !mayKnow(id) else { throw error }
      access.reportRefusal("to use \(id)")
      throw .notFound(id: id)
    }
  }
}

private struct GrantLease: DocumentedParameters {
  let ttl_ms: Int?

  static let docs = [
    "ttl_ms": "Ends it unless it is renewed: 100 to 2678400000; left out: ends with the connection."
  ]
}

private struct NamedLease: DocumentedParameters {
  let lease: String

  static let docs = ["lease": "The name of the lease, for example lease/7."]
}

private struct Will: DocumentedParameters {
  let calls: JSONText

  static let docs = [
    "calls": #"Commands as in atomic, each {"method":…,"params":…}; [] withdraws them."#
  ]
}
