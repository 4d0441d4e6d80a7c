internal import Configuration
package import Connections
internal import Facts
internal import Services
package import Signals
internal import Wire

/// Binds a client to what its role may reach: its requests run there, and what is answered waits
/// for the journal.
///
/// - Parameter before: The interface that it had until now; what it watches and has bound and may no
///   longer is ended, and told so.
package func bindConnection(
  _ connection: Connection, to interface: Interface, before: Interface? = nil
) {
  connection.onRequest = interface.run
  connection.bound = interface
  connection.onOpen = { [unowned connection] name, wish, arguments throws(WireError) in
    try interface.openView(
      name, wish, arguments, interface.session(of: connection), on: connection)
  }
  guard let before, before !== interface else { return }
  interface.caller = connection.caller
  for subscription in connection.subscriptions
  where !interface.mayStillShow(subscription.source, since: before) {
    connection.end(subscription, with: .permissionDenied(need: "read \(subscription.source)"))
  }
  for (handle, binding) in connection.bindings {
    guard let binding = binding as? LiveBinding,
      let error = interface.denial(of: binding.expression)
    else { continue }
    connection.fail(binding: handle, error)
    connection.removeBinding(handle)?.dispose()
  }
  connection.endWaits { interface.role.mayRead($0) ? nil : .permissionDenied(need: "read \($0)") }
  guard interface.role.read != before.role.read else { return }
  for view in connection.views.reversed() { view.close("permission_denied") }
}

extension Interface {
  /// Refuses to begin what was asked for when the client had other rights.
  func checkIsBound(_ connection: Connection, showing source: String) throws(WireError) {
    guard let now = connection.bound as? Interface, now !== self,
      !now.mayStillShow(source, since: self)
    else { return }
    throw .permissionDenied(need: "read \(source)")
  }

  /// Whether a subscription that another role has begun goes on.
  ///
  /// What shows many sources was made for what that role may read, and so ends with it.
  fileprivate func mayStillShow(_ source: String, since before: Interface) -> Bool {
    guard source != "events", Pattern(source)?.isLiteral == true else {
      return role.read == before.role.read
    }
    return role.mayRead(source)
  }
}

/// Binds the hub of all connections to the journal: what is durable may be sent, what is lost must
/// be told.
package func bindHub(_ hub: Hub, to interface: Interface, bag: DisposeBag) {
  let host = interface.host
  hub.epoch = host.epoch
  hub.wireError = { interface.error($0) }
  // What is offered knows the hub: neither would let go of the other.
  BlockDisposable { hub.wireError = { WireError(.internalError, "\($0)") } }.dispose(in: bag)
  hub.advance(to: host.durable)
  host.progress.observeNext { hub.advance(to: $0) }.dispose(in: bag)
  host.rejected.observeNext { hub.reject(interface.error($0)) }.dispose(in: bag)
  host.failed.observeNext { fault in
    hub.reject(interface.error(fault))
    hub.flush()
    hub.closeAll(.journalFailed)
  }
  .dispose(in: bag)
}
