package import API
internal import Connections
internal import EventSourcing
internal import JSON
package import Model
internal import Signals

/// The sessions of connected clients: each is created on first use and ends with its connection.
package final class SessionTable {
  private let make: (Peer) -> ClientSession

  /// The sessions by connection id.
  private var sessions: [UInt64: ClientSession] = [:]

  /// - Parameter make: Creates a session; see ``SessionFactory/session(of:)``.
  package init(_ make: @escaping (Peer) -> ClientSession) {
    self.make = make
  }

  /// Returns the session of a client, with the client's present rights.
  package subscript(context: CallContext) -> ClientSession {
    let connection = context.connection
    let session = sessions[connection.id] ?? begin(context.caller, connection)
    session.mayRecord = context.access.rights.mayRecord
    session.mayKnow = context.access.rights.mayKnowSource
    return session
  }

  /// Logs clients in again that were logged in with an earlier daemon.
  func restore(_ catalog: Catalog) {
    catalog.restore(.login) { [self] context, items, _ throws(CannotRestore) in
      for item in items {
        guard let login: ClientSession.Login = try? JSONDecoder().decode(from: item.text) else {
          throw CannotRestore(unreadable: item)
        }
        self[context].resume(login)
      }
    }
  }

  /// Returns the session of a client that has needed one; `nil` for others.
  func known(_ connection: Connection) -> ClientSession? { sessions[connection.id] }

  private func begin(_ caller: Peer, _ connection: Connection) -> ClientSession {
    let session = make(caller)
    session.onReady = { [weak connection] in connection?.endWork() }
    session.onLogin = { [weak connection] login in
      guard let connection, connection.isKept else { return }
      if let login, let text = try? JSONEncoder().text(login) {
        connection.keep(.login, "", text)
      } else {
        connection.drop(.login, "")
      }
    }
    sessions[connection.id] = session
    connection.attach(
      .login,
      BlockDisposable { [self, id = connection.id] in
        sessions[id] = nil
        session.end()
      })
    return session
  }
}
