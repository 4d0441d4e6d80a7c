package import EventSourcing
internal import Model
package import Signals
internal import Wire

/// Locks with fencing tokens, first come first served.
///
/// A lock is held by a lease, and is free again when the lease ends. Each lock is a stream and a
/// source `locks/NAME`. Names follow the rules of cells.
package final class LocksService {
  package let ledger: Ledger<Locks>
  private let host: ServiceHost

  /// The most locks that the leases of one user who is not an administrator have or wait for.
  package var maxPerUser = 10_000

  /// The number of calls that wait with a lease for a lock.
  private var calls: [Place: Int] = [:]

  private struct Place: Hashable {
    /// The full name of the lock.
    let lock: String
    let lease: String
  }

  /// The places that may have changed, and whether the lease has left: those of the lease of an event,
  /// and of the holder after it.
  ///
  /// So an event costs the same however many wait for the lock.
  private let changed = KeyedSubject<Place, Bool>()
  private let bag = DisposeBag()

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger("locks", in: host)
    ledger.happened.observeNext { [unowned self] event, place in
      let lock = place.stream
      switch event {
      case .asked(let lease, _, _): changed.send(false, to: Place(lock: lock, lease: lease))
      case .left(let lease):
        changed.send(true, to: Place(lock: lock, lease: lease))
        guard let holder = ledger.committed.holder(of: lock), holder.lease != lease else { return }
        changed.send(false, to: Place(lock: lock, lease: holder.lease))
      }
    }.dispose(in: bag)
  }

  /// Asks for a lock on behalf of the lease of a command; asking again changes nothing.
  ///
  /// - Parameter waits: Whether it waits for a lock that is held.
  /// - Returns: The lease, and whether it had no place yet. End each call with
  ///   ``end(_:_:hasToken:isNew:)``.
  /// - Throws: ``Refusal``, also with ``LocksError/locked(name:by:)``.
  package func ask(
    for name: String, _ command: Command, waits: Bool
  ) throws(Refusal) -> (lease: String, isNew: Bool) {
    var (asking, isNew) = ("", false)
    _ = try host.perform(command) {
      let lock = try source(of: name)
      asking = host.runningLease ?? ""
      guard !ledger.pending.has(asking, in: lock) else { return nil }
      if !waits, let holder = ledger.pending.holder(of: lock) {
        throw LocksError.locked(name: name, by: holder)
      }
      let caller = command.caller
      let most = host.roleLimits.limit(.locksPerUser, of: caller.uid, common: maxPerUser)
      guard ledger.pending.count(of: caller.uid) < most || host.owners.contains(caller.uid)
      else { throw LocksError.tooMany(max: most) }
      isNew = true
      ledger.record(.asked(lease: asking, uid: caller.uid, pid: caller.pid), in: lock)
      return nil
    }
    calls[Place(lock: "locks/\(name)", lease: asking), default: 0] += 1
    return (asking, isNew)
  }

  /// Ends a call that has asked for a lock; the last one without a token gives up the place.
  ///
  /// - Parameter isNew: Whether the call had asked first. It then gives up the lock too, because
  ///   nobody knows the token.
  package func end(_ name: String, _ lease: String, hasToken: Bool, isNew: Bool) {
    let lock = "locks/\(name)"
    let place = Place(lock: lock, lease: lease)
    let others = (calls[place] ?? 1) - 1
    calls[place] = others > 0 ? others : nil
    guard others == 0, !hasToken else { return }
    guard ledger.pending.has(lease, in: lock),
      isNew || ledger.pending.holder(of: lock)?.lease != lease
    else { return }
    let command = Command(method: "locks.acquire", caller: host.daemon)
    // It fails if the journal accepts no writes; the place then ends with the lease.
    _ = try? host.perform(command) {
      ledger.record(.left(lease: lease), in: lock)
      return nil
    }
  }

  /// Returns whether a lease has a lock, which may not be durable yet.
  package func holds(_ name: String, _ lease: String) -> Bool {
    ledger.pending.holder(of: "locks/\(name)")?.lease == lease
  }

  /// Returns the holder of a lock; `nil` if it is free, or held by a lease.
  package func holder(of name: String, besides lease: String) -> Locks.Claim? {
    ledger.pending.holder(of: "locks/\(name)").flatMap { $0.lease == lease ? nil : $0 }
  }

  /// Gives back a lock, or a place among those who wait for it.
  ///
  /// - Throws: ``LocksError/notHeld(name:)`` if the lease has neither.
  package func leave(_ name: String, _ lease: String?) throws(LocksError) {
    let lock = try source(of: name)
    guard let lease, ledger.pending.has(lease, in: lock) else { throw .notHeld(name: name) }
    ledger.record(.left(lease: lease), in: lock)
  }

  /// Emits the fencing token once a lease has a lock for good, now or later; `nil` if it no longer
  /// wants it.
  package func token(of lease: String, in name: String) -> Signal<UInt64?, Never> {
    let lock = "locks/\(name)"
    func given() -> UInt64? {
      guard let holder = ledger.committed.holder(of: lock), holder.lease == lease else {
        return nil
      }
      // A release that is not durable yet ends the token.
      let newest = ledger.pending.holder(of: lock)
      return newest?.lease == lease && newest?.token == holder.token ? holder.token : nil
    }
    func isLost() -> Bool { !ledger.pending.has(lease, in: lock) }
    return Signal { [ledger, changed] observer in
      if let token = given() { observer.receive(token) } else if isLost() { observer.receive(nil) }
      let changes = changed.elements(of: Place(lock: lock, lease: lease)).observeNext { hasLeft in
        if let token = given() { return observer.receive(token) }
        if hasLeft, isLost() { observer.receive(nil) }
      }
      let undone = ledger.undone.observeNext { if isLost() { observer.receive(nil) } }
      return CompositeDisposable([changes, undone])
    }
  }

  /// Returns the full name of a lock.
  package func source(of name: String) throws(LocksError) -> String {
    if let fault = SourceName.fault(in: name, of: "locks") { throw .badName(rule: fault) }
    return "locks/\(name)"
  }
}
