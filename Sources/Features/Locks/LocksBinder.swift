package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals
internal import Wire

/// Offers locks to clients.
package func bindLocks(
  _ catalog: Catalog, to locks: LocksService, _ clients: ClientLeases
) {
  catalog.offer("Locks with fencing tokens, first come first served.", locks.ledger)
  catalog.offerSources(
    of: locks.ledger,
    [.init("locks/**", "Who holds the lock, since when, and who waits for it.", .any)],
    exists: { SourceName.isSource($0, of: "locks") })

  catalog.query(
    "locks.acquire", "Answers with a fencing token as soon as the client has the lock.",
    AcquireLock.self, .value(AcquiredLock.self), kind: .late, site: .session,
    errors: ["locked", "lease_ended", "not_owner", "too_many"]
  ) { context, call, acquire throws(WireError) in
    try context.acquire(acquire, call, locks, clients)
  }
  catalog.command(
    "locks.release", "Gives back a lock, or ends the wait for it.", ReleaseLock.self,
    writes: ["locks.left"], errors: ["not_held", "not_owner"]
  ) { context, release throws(LocksError) in
    var lease = clients.known(context)
    if let named = release.lease {
      do throws(LeasesError) {
        lease = try clients.lease(.granted(name: named), context)
      } catch {
        throw .lease(error)
      }
    }
    try locks.leave(release.name, lease)
    return Nothing()
  }
}

extension Feature {
  package static func locks(_ locks: LocksService, _ clients: ClientLeases) -> Feature {
    Feature(configure: { locks.maxPerUser = $0.limits.locksPerUser }) {
      bindLocks($0, to: locks, clients)
    }
  }
}

private let nameDoc = "The lock: 1 to 7 segments of [A-Za-z0-9_.:-] with / between them."

private struct AcquireLock: DocumentedParameters, SourceParameters {
  let name: String
  let wait_ms: Int?
  let ttl_ms: Int?
  let lease: String?

  var source: String { "locks/" + name }

  static let docs = [
    "name": nameDoc,
    "wait_ms": "How long to wait for the lock; 0: not at all; left out: without limit.",
    "ttl_ms": "Holds it under a new lease that ends unless it is renewed.",
    "lease": "The lease that holds it; left out: that of the connection.",
  ]
}

private struct AcquiredLock: Codable {
  let name: String

  /// The position of the event that gave the lock; later holders have higher ones.
  let token: UInt64
  let lease: String
}

private struct ReleaseLock: DocumentedParameters, SourceParameters {
  let name: String
  let lease: String?

  var source: String { "locks/" + name }

  static let docs = [
    "name": nameDoc, "lease": "The lease that holds it; left out: that of the connection.",
  ]
}

extension AcquireLock {
  /// The longest wait: one day, in milliseconds.
  private static let longestWait = 86_400_000

  /// Checks the times, and returns the lease to use.
  ///
  /// - Throws: ``WireError`` for an invalid parameter.
  fileprivate func option() throws(WireError) -> LeaseOption {
    if let wait_ms, !(0...Self.longestWait ~= wait_ms) {
      throw .unusable("wait_ms", "0 to \(Self.longestWait)", "\(wait_ms)")
    }
    switch (lease, ttl_ms) {
    case (_?, _?): throw .unusable("ttl_ms", "no ttl_ms beside lease", "both")
    case (let lease?, nil): return .granted(name: lease)
    case (nil, let ttl?): return .ttl(milliseconds: ttl)
    case (nil, nil): return .connection
    }
  }
}

extension CallContext {
  fileprivate func acquire(
    _ acquire: AcquireLock, _ call: Call, _ locks: LocksService, _ clients: ClientLeases
  ) throws(WireError) {
    let option = try acquire.option()
    try access.checkTarget(acquire)
    var command = Command(method: "locks.acquire", caller: caller, mayRecord: rights.mayRecord)
    command.lease = { try clients.lease(option, self) }
    let (lease, isNew): (String, Bool)
    do {
      (lease, isNew) = try locks.ask(for: acquire.name, command, waits: acquire.wait_ms != 0)
    } catch {
      // The refusal may depend on events that are not durable yet.
      return call.refuse(access.error(error), after: host.last)
    }
    connection.recordWrite(upTo: host.last)
    var hasToken = false
    func end() {
      locks.end(acquire.name, lease, hasToken: hasToken, isNew: isNew)
      // The client does not know a lease that was granted for this call.
      if case .ttl = option, !hasToken { clients.discard(lease) }
    }
    guard let call = call.later(waitingFor: acquire.source) else { return end() }
    // Its client does not know the lease, and could not renew it.
    if case .ttl = option, !locks.holds(acquire.name, lease) { clients.pause(lease) }
    call.keep(
      locks.token(of: lease, in: acquire.name).observeNext { token in
        guard !call.isOver else { return }
        guard let token else {
          return call.refuse(self.access.error(LocksError.lost(acquire.name)))
        }
        do throws(Refusal) {
          try clients.begin(lease, by: self.caller)
        } catch {
          return call.refuse(self.access.error(error))
        }
        call.markBegun()
        hasToken = true
        let acquired = AcquiredLock(name: acquire.name, token: token, lease: lease)
        self.answer(call, with: acquired, after: self.host.last)
      })
    guard !call.isOver else { return end() }
    // A call that ends in any other way gives its place to the next one.
    call.keep(
      BlockDisposable { [context = connection.context] in
        if !context.isStopping { end() }
      })
    guard let wait = acquire.wait_ms else { return }
    call.keep(
      connection.context.scheduler.schedule(after: Double(wait) / 1000) {
        guard let holder = locks.holder(of: acquire.name, besides: lease) else { return }
        call.refuse(self.access.error(LocksError.locked(name: acquire.name, by: holder)))
      })
  }
}
