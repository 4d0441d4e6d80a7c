import API
import Connections
import Facts
import Features
import JSON
import Wire

/// Prepares the will of a lease to run with the present rights of its owner: those of the user and of
/// the groups that the client had.
///
/// - Throws: ``WireError`` if a call is not valid any more, or not allowed.
func makeWill(
  of calls: JSONText, _ owner: Peer, _ access: AccessControl, _ rights: RightsTable,
  _ table: ConnectionTable
) throws(WireError) -> LeasesService.Will {
  guard let role = access.role(of: owner) else {
    throw WireError(.permissionDenied, "user \(owner.uid) has no role any more")
  }
  if case .array(let calls) = calls.value {
    for (i, call) in calls.enumerated() {
      guard case .object(let call) = call, case .string(let method)? = call["method"],
        ["lease.grant", "lease.resume", "will"].contains(method)
      else { continue }
      // What it grants would never end: the connection has ended already.
      throw WireError(
        JSONDecodingError(
          path: "/calls/\(i)/method", expected: "a method that needs no connection", got: method))
    }
  }
  // A call acts for a client; the one that has left is replaced by one that nobody is connected to.
  let connection = table.connect(owner)
  defer { connection.end() }
  let context = CallContext(rights[role], connection)
  return LeasesService.Will(
    steps: try context.steps(ofCalls: calls), mayRecord: context.access.rights.mayRecord)
}
