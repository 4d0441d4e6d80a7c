package import API
package import Configuration
internal import EventSourcing
internal import Model

/// Returns a warning for each persistent binding whose creator has lost a right that it needs.
///
/// Such a binding keeps working, with the rights of its creator at the time of creation, until it
/// is unbound.
///
/// - Parameters:
///   - rights: Those of the owner role.
///   - role: Returns the current role of a user; `nil` if the user may not connect.
/// - Returns: The warnings, sorted by binding name.
package func warnings(
  of service: BindingsService, for rights: Rights, _ role: (_ uid: UInt32) -> Role?
) -> [ConfigurationFault] {
  let bindings = service.ledger.pending
  return bindings.expressions.sorted { $0.key < $1.key }.compactMap { source, text in
    guard let uid = bindings.maker(of: source),
      let expression = try? Access(rights, by: Peer(uid: uid)).readBinding(text)
        .expression
    else { return nil }
    let lost: String
    if let role = role(uid) {
      let needs =
        expression.reads.filter { !role.mayRead($0) }.map { "read \($0)" }
        + expression.writes.filter { !role.mayWrite($0) }.map { "write \($0)" }
      guard let need = needs.first else { return nil }
      lost = "may no longer \(need)"
    } else {
      lost = "no longer has a role"
    }
    let name = source.dropFirst("bindings/".count)
    return ConfigurationFault(
      file: source,
      message: "user \(uid), who made this binding, \(lost); the binding stays active until"
        + " 'bindctl unbind \(name)'")
  }
}
