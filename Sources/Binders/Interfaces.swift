package import Configuration
package import Services
package import Signals

/// The interfaces of all roles, each made when the first client of it comes.
package final class Interfaces {
  /// What they have in common.
  package let commons = InterfaceCommons()

  private let host: ServiceHost

  /// Lets the binders of all services offer what there is; set before the first client comes.
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

  /// Lets go of all of them, and of what they were made of; for the end.
  package func end() {
    onMaking = { _ in }
    byRole = [:]
    commons.bindings.end()
  }

  /// Lets go of those that no new client will have; who has one keeps it.
  package func keep(only roles: Set<Role>) {
    byRole = byRole.filter { roles.contains($0.key) }
  }
}

/// What the interfaces of all roles have in common: the bindings that live, and who is told of what.
package final class InterfaceCommons {
  let bindings = LiveBindings()

  /// Finds the parts of values that clients watch.
  let parts = PartFinder()

  /// Calls back later.
  package var scheduler: (any Scheduler)? {
    get { bindings.scheduler }
    set { bindings.scheduler = newValue }
  }

  /// Makes the session of a client; `nil` where nobody can log in.
  package var makeSession: ((Caller) -> Session)?

  /// The sessions of those clients that have needed one, by the number of their connection.
  var sessions: [UInt64: Session] = [:]

  /// Who reads durably; `nil` where that is not offered.
  var readers: LiveReaders?

  /// Told what is wrong within, and the ref by which a client was told that something is.
  package var onInternalError: (_ ref: String, _ detail: String) -> Void = { _, _ in }

  /// Told what a client has asked for that its role does not allow, for example
  /// `"to call cells.set"`.
  package var onRefusal: (_ caller: Caller, _ role: Role, _ what: String) -> Void = { _, _, _ in }

  /// The order in which the lines of the binders of services are written: a test shuffles them.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// Milliseconds of a monotonic clock that goes on while a method runs.
  package var clock: () -> UInt64 = { 0 }

  /// How many internal errors there were.
  var internalErrors = 0

  package init() {}
}
