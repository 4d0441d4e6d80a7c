internal import JSON
internal import Wire

/// Parses the roles of a configuration file.
struct RoleParser {
  let reader: ConfigurationReader
  let accounts: Accounts

  init(_ reader: ConfigurationReader, _ accounts: Accounts) {
    self.reader = reader
    self.accounts = accounts
  }

  func roles(_ node: ConfigurationValue) -> Roles {
    let roles = reader.elements(of: node, "'roles'") ?? []
    reportRepeatedNames(roles)
    let entries = roles.map(entry)
    warnOfUnreachable(roles, entries)
    return Roles(entries.compactMap(\.self))
  }

  /// Warns of roles after one for everybody: a client gets the first role that it is a member of.
  private func warnOfUnreachable(_ nodes: [ConfigurationValue], _ entries: [Roles.Entry?]) {
    guard let i = entries.firstIndex(where: { $0?.members.isEverybody == true }),
      let name = entries[i]?.role.name
    else { return }
    for node in nodes[(i + 1)...] {
      reader.warn(at: node.offset, "this role is never used: '\(name)' before it is for everybody")
    }
  }

  private func entry(_ node: ConfigurationValue) -> Roles.Entry? {
    let known = ["name", "users", "groups", "methods", "read", "write", "limits"]
    guard let members = reader.members(of: node, "a role", known: known) else { return nil }
    let name = members["name"].flatMap(readName)
    if members["name"] == nil { reader.addFault(at: node.offset, "a role needs a 'name'") }
    if members["users"] == nil, members["groups"] == nil {
      reader.addFault(
        at: node.offset, "a role needs 'users' or 'groups'; everybody is \"users\": [\"*\"]")
    }
    let who = self.members(users: members["users"], groups: members["groups"])
    let role = Role(
      name: name ?? "",
      methods: rules(members["methods"], "'methods'", separator: "."),
      read: rules(members["read"], "'read'", separator: "/"),
      write: rules(members["write"], "'write'", separator: "/"),
      limits: members["limits"].map(limits) ?? [:])
    return Roles.Entry(role, who, line: reader.line(of: node))
  }

  private func readName(_ node: ConfigurationValue) -> String? {
    reader.word(node, "'name'", "1 to 32 of a-z 0-9 _ - and not \"owner\"") {
      Self.isName($0) ? $0 : nil
    }
  }

  private static func isName(_ text: String) -> Bool {
    guard 1...32 ~= text.utf8.count, text != Role.owner.name else { return false }
    return text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
        UInt8(ascii: "_"), UInt8(ascii: "-"):
        true
      default: false
      }
    }
  }

  private func reportRepeatedNames(_ roles: [ConfigurationValue]) {
    var seen: Set<String> = []
    for role in roles {
      guard case .object(let members) = role.value,
        let name = members.first(where: { $0.name == "name" }),
        case .string(let text) = name.value.value
      else { continue }
      if !seen.insert(text).inserted {
        reader.addFault(at: name.value.offset, "there are two roles '\(text)'")
      }
    }
  }

  /// Parses rules: a list of allowed patterns, or an object with `allow` and `deny`.
  private func rules(_ node: ConfigurationValue?, _ name: String, separator: Unicode.Scalar)
    -> Rules
  {
    guard let node else { return Rules() }
    guard case .object = node.value else {
      return Rules(allow: patterns(node, name, separator))
    }
    guard let members = reader.members(of: node, name, known: ["allow", "deny"]) else {
      return Rules()
    }
    return Rules(
      allow: members["allow"].map { patterns($0, "'allow'", separator) } ?? [],
      deny: members["deny"].map { patterns($0, "'deny'", separator) } ?? [])
  }

  /// Parses the limits of a role.
  private func limits(_ node: ConfigurationValue) -> [LimitName: Int] {
    let known = LimitName.ofRoles.map(\.rawValue)
    guard let members = reader.members(of: node, "the limits of a role", known: known) else {
      return [:]
    }
    var limits: [LimitName: Int] = [:]
    for name in LimitName.ofRoles {
      guard let node = members[name.rawValue] else { continue }
      limits[name] = reader.integer(node, "'\(name.rawValue)'", in: name.row.range)
    }
    return limits
  }

  private func patterns(_ node: ConfigurationValue, _ name: String, _ separator: Unicode.Scalar)
    -> [Rule]
  {
    reader.elements(of: node, name)?.compactMap { element in
      reader.pattern(element, "an element of \(name)", separator: separator)
        .map { Rule($0, line: reader.line(of: element)) }
    } ?? []
  }

  private func members(users: ConfigurationValue?, groups: ConfigurationValue?) -> RoleMembers {
    var members = RoleMembers()
    for node in users.flatMap({ reader.elements(of: $0, "'users'") }) ?? [] {
      if case .string("*") = node.value {
        members.isEverybody = true
      } else if let uid = account(node, "user", accounts.user) {
        members.users.insert(uid)
      }
    }
    for node in groups.flatMap({ reader.elements(of: $0, "'groups'") }) ?? [] {
      if let gid = account(node, "group", accounts.group) { members.groups.insert(gid) }
    }
    return members
  }

  /// Parses a user or group given by id or name.
  ///
  /// An unknown name is a warning and returns `nil`.
  func account(_ node: ConfigurationValue, _ what: String, _ lookUp: (String) -> UInt32?) -> UInt32?
  {
    if case .number = node.value {
      return reader.integer(node, "a \(what)", in: 0...Int(UInt32.max) - 1).map { UInt32($0) }
    }
    guard let name = reader.string(node, "a \(what)") else { return nil }
    if let number = lookUp(name) { return number }
    reader.warn(at: node.offset, "there is no \(what) '\(name.prefix(64))'; it matches nobody")
    return nil
  }
}
