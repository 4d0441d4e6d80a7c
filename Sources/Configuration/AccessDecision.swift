package import Model
package import Wire

/// An operation that a client asks permission for.
package enum AccessRequest: Equatable, Sendable {
  case call(String)
  case read(String)
  case write(String)
}

/// The result of a permission check, with the rule that decided it.
package struct AccessDecision: Equatable, Sendable {
  package let isAllowed: Bool

  /// The client's role.
  ///
  /// `nil` if it has none and therefore cannot connect.
  package let role: String?

  /// The rule as readable text.
  package let rule: String

  /// The line of the rule in the configuration file; 0 for built-in rules.
  package let line: Int

  /// The limits that the role sets.
  package fileprivate(set) var limits: [LimitName: Int] = [:]

  fileprivate init(_ isAllowed: Bool, _ role: String?, _ rule: String, line: Int = 0) {
    self.isAllowed = isAllowed
    self.role = role
    self.rule = rule
    self.line = line
  }
}

extension Roles {
  /// Checks whether a client may perform an operation.
  package func decision(on request: AccessRequest, by peer: Peer, owner: UInt32) -> AccessDecision {
    guard let entry = entry(for: peer, owner: owner) else {
      return AccessDecision(false, nil, "it has no role and may not connect")
    }
    var decision = decision(on: request, entry)
    decision.limits = entry.role.limits
    return decision
  }

  private func decision(on request: AccessRequest, _ entry: Entry) -> AccessDecision {
    let role = entry.role
    if role == .owner {
      return AccessDecision(true, role.name, "root and the user of the daemon may do everything")
    }
    switch request {
    case .read("events"):
      return AccessDecision(
        true, role.name, "every client may read it: the events of those streams that it may read")
    case .read(let source): return entry.decision(on: source, role.read, "read")
    case .write(let source): return entry.decision(on: source, role.write, "write")
    case .call(let method):
      if Role.alwaysAllowed.contains(method) {
        return AccessDecision(true, role.name, "every client may call it")
      }
      if role.methods.verdict(on: method) == .unnamed, Role.boundBySources.contains(method) {
        return AccessDecision(true, role.name, "'read' and 'write' decide what it may do")
      }
      return entry.decision(on: method, role.methods, "methods")
    }
  }
}

extension Roles.Entry {
  fileprivate func decision(on name: String, _ rules: Rules, _ member: String) -> AccessDecision {
    switch rules.verdict(on: name) {
    case .allowed(let rule):
      AccessDecision(
        true, role.name, "'\(member)' allows \"\(rule.pattern.text)\"", line: rule.line)
    case .denied(let rule):
      AccessDecision(
        false, role.name, "'\(member)' denies \"\(rule.pattern.text)\"", line: rule.line)
    case .unnamed: AccessDecision(false, role.name, "'\(member)' does not allow it", line: line)
    }
  }
}
