internal import JSON

/// The programs that act for users whom they have authenticated, such as `binder-web` behind a
/// reverse proxy.
package struct Gateways: Equatable, Sendable {
  /// The users of the system by the names that a gateway gives them.
  ///
  /// The name `*` is everybody else.
  private let names: [UInt32: [String: UInt32]]

  /// - Parameter names: The users by name, of each gateway by its own user.
  package init(_ names: [UInt32: [String: UInt32]] = [:]) {
    self.names = names
  }

  /// Whether a user's programs are gateways.
  package func contains(_ user: UInt32) -> Bool { names[user] != nil }

  /// Returns the user for whom a gateway acts; `nil` if it may not act under that name.
  package func user(named name: String, by gateway: UInt32) -> UInt32? {
    guard let users = names[gateway] else { return nil }
    // Nobody is called `*`, so that a name never means everybody.
    return name == Self.everybody ? nil : users[name] ?? users[Self.everybody]
  }

  /// The gateways with their names, in order, for people.
  package var list: [(user: UInt32, names: [(name: String, user: UInt32)])] {
    names.sorted { $0.key < $1.key }.map { gateway in
      (gateway.key, gateway.value.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
  }

  static let everybody = "*"
}

extension Role {
  /// The role of a gateway before it has said for whom it acts.
  package static let gateway = Role(
    name: "gateway", methods: .only("act_as"), read: Rules(), write: Rules())
}

extension RoleParser {
  func gateways(_ node: ConfigurationValue) -> Gateways {
    var gateways: [UInt32: [String: UInt32]] = [:]
    for node in reader.elements(of: node, "'gateways'") ?? [] {
      guard let members = reader.members(of: node, "a gateway", known: ["user", "names"]) else {
        continue
      }
      guard let user = members["user"], let names = members["names"] else {
        reader.addFault(at: node.offset, "a gateway needs 'user' and 'names'")
        continue
      }
      let users = self.names(names)
      guard let gateway = account(user, "user", accounts.user) else { continue }
      guard gateways[gateway] == nil else {
        reader.addFault(at: user.offset, "there are two gateways of this user")
        continue
      }
      gateways[gateway] = users
      if gateway == 0 || gateway == accounts.owner {
        let name = gateway == 0 ? "root" : "the daemon's own user"
        reader.warn(
          at: user.offset,
          "this gateway is \(name), who is owner: a connection without act_as may do everything;"
            + " run it as a user of its own")
      }
    }
    return Gateways(gateways)
  }

  private func names(_ node: ConfigurationValue) -> [String: UInt32] {
    guard case .object(let members) = node.value else {
      reader.addFault(at: node.offset, "'names' is an object, with a user for each name")
      return [:]
    }
    var users: [String: UInt32] = [:]
    for member in members {
      guard users[member.name] == nil else {
        reader.addFault(at: member.offset, "the name '\(member.name.prefix(64))' occurs twice")
        continue
      }
      guard let user = account(member.value, "user", accounts.user) else { continue }
      if user == 0 {
        reader.addFault(at: member.value.offset, "no gateway acts for root")
      }
      users[member.name] = user
    }
    return users
  }
}
