package import Configuration
package import EventSourcing
package import Facts
package import Signals

/// The interfaces of all roles, each created when its first client connects.
package final class Interfaces {
  /// The state shared by all interfaces.
  package let commons = InterfaceCommons()

  private let host: ServiceHost

  /// Calls the binders of all services for a new interface.
  ///
  /// Set before the first client connects.
  package var onMaking: (Interface) -> Void = { _ in }

  private var byRole: [Role: Interface] = [:]

  package init(over host: ServiceHost) {
    self.host = host
  }

  package subscript(role: Role) -> Interface {
    if let interface = byRole[role] { return interface }
    let interface = Interface(over: host, for: role, commons)
    interface.fill(onMaking)
    byRole[role] = interface
    return interface
  }

  /// Releases all interfaces and ends all bindings, when the daemon stops.
  package func end() {
    onMaking = { _ in }
    byRole = [:]
    commons.bindings.end()
  }

  /// Releases the interfaces of other roles.
  ///
  /// Clients that use one keep it.
  package func keep(only roles: Set<Role>) {
    byRole = byRole.filter { roles.contains($0.key) }
  }
}

/// The state shared by the interfaces of all roles: live bindings, sessions, readers and callbacks.
package final class InterfaceCommons {
  let bindings = LiveBindings()

  /// Finds the parts of values that clients subscribe to, and decodes values for bindings.
  package let parts = PartFinder()

  /// The scheduler for delayed callbacks.
  package var scheduler: (any Scheduler)? {
    get { bindings.scheduler }
    set { bindings.scheduler = newValue }
  }

  /// Creates the session of a client; `nil` if clients cannot log in.
  package var makeSession: ((Peer) -> Session)?

  /// The sessions of clients that have needed one, by connection id.
  var sessions: [UInt64: Session] = [:]

  /// The durable readers; `nil` if they are not offered.
  var readers: LiveReaders?

  /// Called for each internal error, with the reference sent to the client and the details for the
  /// log.
  package var onInternalError: (_ ref: String, _ detail: String) -> Void = { _, _ in }

  /// Called when a client requests an operation that its role does not allow, for example `"to call
  /// cells.set"`.
  package var onRefusal: (_ caller: Peer, _ role: Role, _ what: String) -> Void = { _, _, _ in }

  /// The order in which offers are processed; tests shuffle it.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// Returns milliseconds of a monotonic clock that advances while a method runs.
  package var clock: () -> UInt64 = { 0 }

  /// The number of internal errors so far.
  var internalErrors = 0

  package init() {}
}
