package import Connections
internal import JSON
package import Model
package import Wire

/// Offers `act_as`, with which a gateway says for whom a connection acts.
///
/// - Parameter admit: Returns the user that a gateway names, as a peer, and the rights of the user's
///   role; or why the connection may not act for the user.
package func bindActAs(
  _ catalog: Catalog, to table: ConnectionTable,
  admit: @escaping (_ name: String, _ gateway: Peer) -> Result<(Peer, Rights), WireError>
) {
  catalog.query(
    "act_as", "Lets the connection of a gateway act for a user; must be its first request.",
    ActAs.self, .members(.init("name", .string), .init("peer", .object(Peer.shape)))
  ) { [unowned table] _, call, parameters throws(WireError) in
    let connection = call.connection
    guard connection.requests == 1, connection.acting == nil else {
      throw .invalidRequest("act_as must be the first request of a connection")
    }
    let (peer, rights) = try admit(parameters.name, connection.peer).get()
    if let limit = table.limitReached(by: peer.uid) {
      throw .limitReached(limit, table.limits(of: peer.uid))
    }
    table.move(connection, to: peer, named: parameters.name)
    bindConnection(connection, to: rights)
    connection.keepActing()
    call.answer { buffer in
      buffer.object {
        $0.member("name", parameters.name)
        $0.member("peer", JSONValue.object(peer.shown(as: rights.role)).text)
      }
    }
  }
  catalog.restore(.acting) { [unowned table] context, items, _ throws(CannotRestore) in
    for item in items { try context.connection.resumeActing(item, in: table, admit) }
  }
}

/// The user for whom a connection acts, as it survives a restart.
private struct HandoverActing: Decodable {
  let name: String
  let uid: UInt32
}

extension Connection {
  /// Keeps the user for whom the connection acts over a restart.
  fileprivate func keepActing() {
    guard let acting else { return }
    keep(
      .acting, "",
      JSONText(members: ["name": JSONText(string: acting.name), "uid": JSONText(UInt64(peer.uid))]))
  }

  /// Lets the connection of a gateway act for its user again, by the present configuration.
  fileprivate func resumeActing(
    _ item: HandoverItem, in table: ConnectionTable,
    _ admit: (_ name: String, _ gateway: Peer) -> Result<(Peer, Rights), WireError>
  ) throws(CannotRestore) {
    guard let kept: HandoverActing = try? JSONDecoder().decode(from: item.text) else {
      throw CannotRestore(unreadable: item)
    }
    switch admit(kept.name, peer) {
    case .failure(let error): throw CannotRestore("it acts for '\(kept.name)': \(error.message)")
    case .success(let (user, rights)):
      guard user.uid == kept.uid else {
        throw CannotRestore("'\(kept.name)' is another user now")
      }
      table.move(self, to: user, named: kept.name)
      bindConnection(self, to: rights)
      keepActing()
    }
  }
}

private struct ActAs: DocumentedParameters {
  let name: String

  static let docs = ["name": "The name of the user, as the gateway has authenticated it."]
}
