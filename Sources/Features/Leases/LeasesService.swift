package import EventSourcing
package import JSON
package import Model
package import Signals
internal import Wire

/// Leases: when one ends, the daemon removes the values written under it.
///
/// A lease ends with its connection, or when it was not renewed for its TTL. Each lease is a stream
/// and a source `lease/NUMBER`.
///
/// After a restart of the daemon, a lease of a connection waits for its client to resume it
/// (``resume(_:by:)``), and a TTL goes on from the last renewal, by the time of the journal.
package final class LeasesService: LeaseKeeper {
  /// The seconds between attempts to end a lease while the journal accepts no writes.
  private static let retrySeconds = 1.0

  package let ledger: Ledger<Leases>

  /// The milliseconds for which a lease of a connection waits after a restart.
  package var graceMilliseconds = 5_000

  /// The most values and locks that end with one lease, and with the leases that one command ends.
  package static let maxParts = 1000

  /// The most calls of a will.
  package static let maxCalls = 100

  /// The most leases of one user who is not an administrator.
  package var maxPerUser = 10_000

  /// The calls of a will, ready to run.
  package struct Will {
    let steps: [() throws -> JSONText?]
    let mayRecord: ((_ stream: String) -> Bool)?

    package init(
      steps: [() throws -> JSONText?], mayRecord: ((_ stream: String) -> Bool)?
    ) {
      (self.steps, self.mayRecord) = (steps, mayRecord)
    }
  }

  /// Returns the will of a client, with the present rights of its user and groups; throws if it
  /// cannot run.
  package var will: (_ calls: JSONText, _ owner: Peer) throws -> Will = { _, _ in
    Will(steps: [], mayRecord: nil)
  }

  /// Called when a will could not run: the lease, and the reason.
  package var onFailure: (_ lease: String, _ reason: String) -> Void = { _, _ in }

  private unowned let host: ServiceHost
  private let scheduler: any Scheduler
  private let clock: () -> UInt64

  /// The timers of leases that end by themselves, by full name.
  private var timers: [String: any Disposable] = [:]

  /// The number of the last lease, also of one whose command was rolled back: such a number is not
  /// used again, because its connection still knows it.
  private var lastNumber = 0

  /// The leases whose end is recorded, but not durable yet.
  private var ending: Set<String> = []

  /// The leases whose renewal is recorded, but not durable yet, with its position.
  private var renewing: [String: UInt64] = [:]

  /// The values that the leases which a command has released have removed.
  private var released: (command: UInt64, parts: Int) = (0, 0)

  /// The leases whose TTL has not begun, because a lock is not given to them yet.
  private var paused: Set<String> = []

  /// The leases whose connections are open.
  private var connected: Set<String> = []

  /// The leases that are to end now, as the turns of the loop permit.
  private var ends = LeaseEnds()
  private var nextTurn: (any Disposable)?
  private let bag = DisposeBag()

  /// - Parameter clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  package init(
    in host: ServiceHost, on scheduler: any Scheduler, clock: @escaping () -> UInt64 = { 0 }
  ) {
    (self.host, self.scheduler, self.clock) = (host, scheduler, clock)
    ledger = Ledger("lease", in: host)
    host.leases = self
    ledger.happened.observeNext { [unowned self] event, place in
      switch event {
      case .ended: ending.remove(place.stream)
      // Only now: a rejected command must not grant or renew a lease.
      case .granted, .renewed:
        if let last = renewing[place.stream], last <= place.seq { renewing[place.stream] = nil }
        if event == .renewed { ends.remove(place.stream) }
        if ledger.pending[place.stream]?.ttl != nil { watch(place.stream) }
      default: break
      }
    }.dispose(in: bag)
    // A lease whose end was lost must end again.
    ledger.undone.observeNext { [unowned self] in
      renewing = renewing.filter { $0.value <= host.last }
      for name in ending where ledger.pending[name] != nil {
        ending.remove(name)
        watch(name, atLeast: Double(graceMilliseconds) / 1000)
      }
    }.dispose(in: bag)
  }

  /// Starts the timers of the leases from before this start; call it after the host has started.
  package func start() {
    for name in ledger.pending.names { watch(name, atLeast: Double(graceMilliseconds) / 1000) }
  }

  /// Stops the timers, when the daemon stops: leases then wait for the next start.
  package func stop() {
    for timer in timers.values { timer.dispose() }
    timers = [:]
    nextTurn?.dispose()
    ends.removeAll()
    bag.dispose()
    host.leases = nil
  }

  // MARK: Commands

  /// Grants a lease; call it within a command.
  ///
  /// - Parameter ttl: In milliseconds; `nil` for a lease of a connection, see ``hold(_:)``.
  /// - Returns: The full name.
  package func grant(to caller: Peer, ttl: Int?) throws(LeasesError) -> String {
    if let ttl, !LeaseLimits.ttls.contains(ttl) { throw .badTTL(milliseconds: ttl) }
    let most = host.roleLimits.limit(.leasesPerUser, of: caller.uid, common: maxPerUser)
    guard ledger.pending.count(of: caller.uid) < most || host.owners.contains(caller.uid)
    else { throw .tooMany(max: most) }
    lastNumber = max(lastNumber, ledger.pending.last) + 1
    let name = "lease/\(lastNumber)"
    record(.granted(uid: caller.uid, pid: caller.pid, ttl: ttl), in: name)
    return name
  }

  /// Starts the TTL of a lease again; call it within a command.
  ///
  /// - Returns: The TTL in milliseconds.
  package func renew(_ name: String, by caller: Peer) throws(LeasesError) -> Int {
    guard let ttl = try lease(name, of: caller).ttl else { throw .noTTL(id: name) }
    record(.renewed, in: name)
    renewing[name] = host.last
    return ttl
  }

  /// Stops the TTL of a lease that was granted just now, until ``begin(_:by:)`` or its end.
  package func pause(_ name: String) {
    paused.insert(name)
    timers.removeValue(forKey: name)?.dispose()
  }

  /// Begins the TTL of a lease that was paused; does nothing for others.
  package func begin(_ name: String, by caller: Peer) throws(Refusal) {
    guard paused.remove(name) != nil else { return }
    do throws(Refusal) {
      _ = try host.perform(Command(method: "lease.renew", caller: caller)) {
        _ = try renew(name, by: caller)
        return nil
      }
    } catch {
      paused.insert(name)
      throw error
    }
  }

  /// Checks that a connection may take over a lease whose connection has ended with the daemon.
  package func resume(_ name: String, by caller: Peer) throws(LeasesError) {
    guard try lease(name, of: caller).ttl == nil else { throw .hasTTL(id: name) }
    guard !connected.contains(name) else { throw .inUse(id: name) }
  }

  /// Sets the calls that run when a lease ends; call it within a command.
  ///
  /// - Parameter calls: A JSON array as in `atomic`, and the number of its calls; `nil` for none.
  package func setWill(
    _ calls: (text: String, count: Int)?, of name: String, by caller: Peer
  ) throws(LeasesError) {
    guard let (text, count) = calls else {
      return record(.willed(calls: nil, count: nil, groups: nil), in: name)
    }
    guard count <= Self.maxCalls else { throw .longWill(max: Self.maxCalls) }
    record(.willed(calls: text, count: count, groups: caller.groups), in: name)
  }

  /// Ends a lease at the wish of its owner; call it within a command.
  ///
  /// Its will does not run.
  package func release(_ name: String, by caller: Peer) throws(LeasesError) {
    let parts = try lease(name, of: caller).parts.count
    if released.command != host.commandCount { released = (host.commandCount, 0) }
    released.parts += parts
    guard released.parts <= Self.maxParts else { throw .endsTooMany(max: Self.maxParts) }
    end(name, .released)
  }

  /// Returns a lease of a user.
  @discardableResult
  package func lease(_ name: String, of caller: Peer) throws(LeasesError) -> Leases.Lease {
    guard let lease = ledger.pending[name] else { throw .notFound(id: name) }
    guard lease.uid == caller.uid || host.owners.contains(caller.uid) else {
      throw .notOwner(id: name)
    }
    return lease
  }

  // MARK: Connections

  /// Keeps a lease while a connection is open.
  package func hold(_ name: String) {
    connected.insert(name)
    ends.remove(name)
    timers.removeValue(forKey: name)?.dispose()
  }

  /// Ends the lease of a connection that has ended.
  package func drop(_ name: String) {
    guard connected.remove(name) != nil, host.leases != nil else { return }
    end(name, soon: .disconnected)
  }

  /// Returns whether a lease exists; one that does not is not kept for a connection either.
  package func keeps(_ name: String) -> Bool {
    if ledger.pending[name] != nil { return true }
    connected.remove(name)
    return false
  }

  /// Ends a lease without its will.
  package func discard(_ name: String) {
    guard ledger.pending[name] != nil else { return }
    do {
      try perform(Command(method: "lease.end", caller: host.daemon), name, .released)
    } catch {
      schedule(name, after: Self.retrySeconds, .expired)
    }
  }

  // MARK: Ends

  /// Starts the timer of a lease.
  ///
  /// - Parameter least: The shortest time in seconds.
  private func watch(_ name: String, atLeast least: Double = 0) {
    // Another daemon ends the leases, until this one takes over and starts.
    guard host.isActive, let lease = ledger.pending[name], !connected.contains(name),
      !paused.contains(name)
    else { return }
    var seconds = least
    if let ttl = lease.ttl {
      let whole = Double(ttl) / 1000
      // The clock may have jumped: never longer than the whole TTL.
      let gone = Double(max(0, host.now - lease.renewed)) / 1e6
      seconds = min(whole, max(whole - gone, least))
    }
    schedule(name, after: seconds, lease.ttl == nil ? .disconnected : .expired)
  }

  private func schedule(_ name: String, after seconds: Double, _ reason: LeaseEnd) {
    timers[name]?.dispose()
    timers[name] = scheduler.schedule(after: seconds) { [unowned self] in
      timers[name] = nil
      if renewing[name] != nil { return schedule(name, after: Self.retrySeconds, reason) }
      end(name, soon: reason)
    }
  }

  /// Ends a lease in this turn, or in a later one if many end at once.
  private func end(_ name: String, soon reason: LeaseEnd) {
    guard let lease = ledger.pending[name] else { return }
    ends.add(name, of: lease.uid, reason)
    endSome()
  }

  private func endSome() {
    while let (name, reason) = ends.next() {
      guard let lease = ledger.pending[name] else { continue }
      let begun = clock()
      run(reason, of: name)
      ends.spend(
        1 + lease.parts.count + (lease.will?.calls ?? 0), nanoseconds: clock() - begun)
    }
    guard !ends.isIdle, nextTurn == nil else { return }
    nextTurn = scheduler.schedule { [unowned self] in
      nextTurn = nil
      ends.beginTurn()
      endSome()
    }
  }

  /// Ends a lease and runs its will as one command; a will that fails is left out.
  private func run(_ reason: LeaseEnd, of name: String) {
    guard let lease = ledger.pending[name] else { return }
    let owner = Peer(uid: lease.uid, pid: lease.pid, groups: lease.will?.groups ?? [])
    var end = Command(method: "lease.end", caller: owner)
    end.origin = .promise
    end.cause = Command.Cause(source: name, seq: host.lastPosition(of: name))
    do {
      guard let text = lease.will?.text else { return try perform(end, name, reason) }
      let will = try will(JSONText(trusted: text), owner)
      var command = end
      command.mayRecord = will.mayRecord
      return try perform(command, name, reason, will.steps)
    } catch Refusal.journal {
      return schedule(name, after: Self.retrySeconds, reason)
    } catch {
      onFailure(name, "\(error)")
    }
    // Without the will.
    do {
      try perform(end, name, reason)
    } catch {
      schedule(name, after: Self.retrySeconds, reason)
    }
  }

  private func perform(
    _ command: Command, _ name: String, _ reason: LeaseEnd,
    _ steps: [() throws -> JSONText?] = []
  ) throws {
    _ = try host.perform(command) {
      end(name, reason)
      for step in steps {
        _ = try step()
        try host.checkRights()
      }
      return nil
    }
  }

  /// Records the end of a lease, and removes what was written under it, in that order.
  private func end(_ name: String, _ reason: LeaseEnd) {
    timers.removeValue(forKey: name)?.dispose()
    let parts = ledger.pending[name]?.parts ?? [:]
    paused.remove(name)
    ending.insert(name)
    record(.ended(reason: reason), in: name)
    host.recordingLeases {
      for part in parts.sorted(by: { $0.value < $1.value }) { host.remove(part.key) }
    }
  }

  private func record(_ event: LeaseEvent, in name: String) {
    host.recordingLeases { ledger.record(event, in: name) }
  }

  // MARK: LeaseKeeper

  package var isEmpty: Bool { ledger.pending.isWithoutParts }

  package func position(of stream: String) -> UInt64? { ledger.pending.position(of: stream) }

  package func recordWrite(_ part: LeasedPart, under lease: String?) -> (any ServiceError)? {
    let former = ledger.pending.holder(of: part)
    guard former != lease else { return nil }
    if let former { record(.detached(part: part), in: former) }
    guard let lease else { return nil }
    record(.attached(part: part), in: lease)
    guard let count = ledger.pending[lease]?.parts.count, count > Self.maxParts else { return nil }
    return LeasesError.tooManyParts(id: lease, max: Self.maxParts)
  }
}
