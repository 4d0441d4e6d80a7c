package import Connections
internal import JSON
package import Model
internal import Wire

/// Offers `kick`, which ends the connection of a client.
///
/// - Parameter onKick: Called with the number of the connection, its client, and the client that
///   has asked.
package func bindKick(
  _ catalog: Catalog, to table: ConnectionTable,
  onKick: @escaping (_ conn: UInt64, _ client: Peer, _ caller: Peer) -> Void
) {
  catalog.query(
    "kick", "Ends the connection of a client, with the reason kicked.", Kick.self,
    .members(
      .init("conn", .natural), .init("uid", .natural), .init("pid", .natural),
      .optional("client", .string))
  ) { [unowned table] _, call, kick throws(WireError) in
    guard let connection = table.connections[kick.conn] else {
      throw WireError(
        .notFound, "there is no connection \(kick.conn)",
        ["what": .string("connection"), "id": .number(JSONNumber(kick.conn))])
    }
    let (peer, name) = (connection.peer, connection.clientName)
    onKick(kick.conn, peer, call.connection.peer)
    call.answer { buffer in
      buffer.object {
        $0.member("conn", kick.conn)
        $0.member("uid", peer.uid)
        $0.member("pid", peer.pid)
        $0.member("client", name)
      }
    }
    // Later, because a client may end its own connection: it gets the answer first.
    table.context.atTurnEnd { connection.close(.kicked) }
  }
}

private struct Kick: DocumentedParameters {
  let conn: UInt64

  static let docs = ["conn": "The number of the connection, as daemon/connections shows it."]
}
