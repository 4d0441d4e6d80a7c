package import Connections
package import Facts
internal import JSON
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
      throw .limitReached(limit, table.context.limits)
    }
    table.move(connection, to: peer, named: parameters.name)
    bindConnection(connection, to: rights)
    call.answer { buffer in
      buffer.object {
        $0.member("name", parameters.name)
        $0.member("peer", JSONValue.object(peer.shown(as: rights.role)).text)
      }
    }
  }
}

private struct ActAs: DocumentedParameters {
  let name: String

  static let docs = ["name": "The name of the user, as the gateway has authenticated it."]
}
