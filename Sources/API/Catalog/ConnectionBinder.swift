internal import Configuration
package import Connections
internal import EventSourcing
internal import Model
package import Signals
package import Wire

/// Connects a client to what its role may use.
///
/// - Parameter before: The client's previous rights, if its role has changed. Subscriptions,
///   bindings, waits and views that the new role does not allow are ended with an error.
package func bindConnection(
  _ connection: Connection, to rights: Rights, before: Rights? = nil
) {
  connection.handler?.end()
  // The end of the connection breaks the cycle.
  connection.handler = CallContext(rights, connection)
  guard let before, before !== rights else { return }
  let access = Access(rights, by: connection.peer)
  for subscription in connection.subscriptions
  where !rights.mayStillShow(subscription.source, since: before) {
    connection.end(
      subscription, with: .permissionDenied(of: rights.role, need: "read \(subscription.source)"))
  }
  for (handle, binding) in connection.bindings {
    guard let error = (binding.work as? any RoleDependent)?.denial(by: access) else { continue }
    connection.fail(binding: handle, error)
    connection.removeBinding(handle)?.dispose()
  }
  connection.endWaits {
    rights.role.mayRead($0) ? nil : .permissionDenied(of: rights.role, need: "read \($0)")
  }
  guard rights.role.read != before.role.read else { return }
  for view in connection.views.all.reversed() { view.close("permission_denied") }
}

extension Rights {
  /// Checks that the client's current role still allows a subscription that was requested under
  /// this role.
  ///
  /// - Throws: `permission_denied` if the role has changed and does not allow it.
  package func checkIsBound(_ connection: Connection, showing source: String) throws(WireError) {
    guard let now = (connection.handler as? CallContext)?.rights, now !== self,
      !now.mayStillShow(source, since: self)
    else { return }
    throw .permissionDenied(of: role, need: "read \(source)")
  }

  /// Whether a subscription that began under another role may continue.
  ///
  /// A subscription to several sources was filtered for the previous role, so it continues only if
  /// the rules for reading are equal.
  fileprivate func mayStillShow(_ source: String, since before: Rights) -> Bool {
    guard source != "events", Pattern(source)?.isLiteral == true else {
      return role.read == before.role.read
    }
    return role.mayRead(source)
  }
}

/// Connects the table of all connections to the journal: durable events may be sent, and lost ones
/// are reported as errors.
package func bindTable(_ table: ConnectionTable, to catalog: Catalog, bag: DisposeBag) {
  let host = catalog.host
  table.context.epoch = host.epoch
  table.context.views.wireError = { catalog.error($0) }
  // Breaks the reference cycle between the table and the catalog.
  BlockDisposable { table.context.views.wireError = { WireError(.internalError, "\($0)") } }
    .dispose(in: bag)
  table.advance(to: host.durable)
  host.progress.observeNext { table.advance(to: $0) }.dispose(in: bag)
  host.rejected.observeNext { table.reject(catalog.error($0)) }.dispose(in: bag)
  host.stalled.observeNext { table.reject(catalog.error($0)) }.dispose(in: bag)
  host.failed.observeNext { fault in
    table.reject(catalog.error(fault))
    table.flush()
    table.closeAll(.journalFailed)
  }
  .dispose(in: bag)
}
