package import Connections
package import Services
package import Signals
internal import Wire

/// Binds a client to what its role may reach: its requests run there, and what is answered waits
/// for the journal.
///
/// The session says who the client is; the daemon's owner and every other client have the same
/// role as yet.
package func bindConnection(_ connection: Connection, _ session: Session, to interface: Interface) {
  connection.onRequest = interface.run
  connection.onOpen = { [unowned connection] name, wish, arguments throws(WireError) in
    try interface.openView(name, wish, arguments, session, on: connection)
  }
}

/// Binds the hub of all connections to the journal: what is durable may be sent, what is lost must
/// be told.
package func bindHub(_ hub: Hub, to interface: Interface, bag: DisposeBag) {
  let host = interface.host
  hub.epoch = host.epoch
  hub.wireError = { interface.error($0) }
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
