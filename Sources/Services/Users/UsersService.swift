/// The people who use the services: names, profiles, friends, and tokens to log in with.
///
/// Who somebody is the kernel says: a name belongs to the user of this machine who was the first to
/// claim it. Everybody else needs a token of its owner's.
package final class UsersService {
  /// Names of one user of this machine.
  package static let maxNames = 16
  package static let maxTokens = 16
  package static let maxFriends = 1000
  package static let maxFullName = 64
  package static let maxAbout = 400

  package let ledger: Ledger<Users>
  private let secrets: any Secrets

  package init(in host: ServiceHost, secrets: any Secrets) {
    ledger = Ledger("users", in: host)
    self.secrets = secrets
  }

  // MARK: Who somebody is

  /// Finds the name of somebody who logs in, and registers it when nobody has it.
  package func claim(_ name: String, by uid: UInt32) throws(UsersError) -> User {
    if let user = ledger.newest[name] {
      guard user.uid == uid else { throw .taken(name: name) }
      return user
    }
    guard Self.isName(name) else { throw .badName }
    guard ledger.newest.names(of: uid).count < Self.maxNames else {
      throw .tooManyNames(max: Self.maxNames)
    }
    record(.registered(uid: uid), of: name)
    return try user(name)
  }

  /// The user that a token was issued to, and the number of the token.
  package func user(withToken token: String) throws(UsersError) -> (user: User, id: Int) {
    let parts = token.split(separator: ".", maxSplits: 1)
    guard parts.count == 2, let id = Int(parts[0]), let kept = ledger.newest.tokens[id],
      secrets.matches(String(parts[1]), hash: kept.hash), let user = ledger.newest[kept.user]
    else { throw .badToken }
    return (user, id)
  }

  /// Makes a token, with which whoever has it logs in as a user.
  ///
  /// - Returns: The token: its number, a point and the secret. It is nowhere else: what is kept is a
  ///   hash of the secret.
  package func issueToken(to name: String) throws(UsersError) -> String {
    _ = try user(name)
    let count = ledger.newest.tokens.values.count { $0.user == name }
    guard count < Self.maxTokens else { throw .tooManyTokens(max: Self.maxTokens) }
    guard let (secret, hash) = secrets.make(), ledger.newest.lastToken < .max else {
      throw .noTokens
    }
    let id = ledger.newest.lastToken + 1
    record(.tokenIssued(id: id, hash: hash), of: name)
    return "\(id).\(secret)"
  }

  /// Takes all tokens of a user away; who has logged in with one is logged out.
  ///
  /// - Returns: How many there were.
  package func revokeTokens(of name: String) throws(UsersError) -> Int {
    _ = try user(name)
    let count = ledger.newest.tokens.values.count { $0.user == name }
    if count > 0 { record(.tokensRevoked, of: name) }
    return count
  }

  // MARK: Profiles and friends

  /// Changes what a user says of themselves; what is not given stays.
  package func edit(
    _ name: String, fullName: String?, about: String?
  ) throws(UsersError) -> User {
    let user = try user(name)
    let (fullName, about) = (fullName ?? user.fullName, about ?? user.about)
    try check(fullName, "fullName", max: Self.maxFullName)
    try check(about, "about", max: Self.maxAbout)
    if (fullName, about) != (user.fullName, user.about) {
      record(.edited(fullName: fullName, about: about), of: name)
    }
    return try self.user(name)
  }

  /// Makes somebody a friend of a user, who need not be asked.
  ///
  /// - Returns: Whether they were none before; when they were, nothing is recorded.
  package func befriend(_ friend: String, of name: String) throws(UsersError) -> Bool {
    let user = try user(name)
    _ = try self.user(friend)
    guard friend != name else { throw .oneself }
    guard !user.friends.contains(friend) else { return false }
    guard user.friends.count < Self.maxFriends else { throw .tooManyFriends(max: Self.maxFriends) }
    record(.befriended(name: friend), of: name)
    return true
  }

  /// Ends that somebody is a friend of a user.
  ///
  /// - Returns: Whether they were one.
  package func unfriend(_ friend: String, of name: String) throws(UsersError) -> Bool {
    guard try user(name).friends.contains(friend) else { return false }
    record(.unfriended(name: friend), of: name)
    return true
  }

  /// Whether a source can be a user, registered or not.
  package static func isUser(_ source: String) -> Bool {
    source.hasPrefix("users/") && isName(source.dropFirst("users/".count))
  }

  private static func isName(_ name: some StringProtocol) -> Bool {
    guard 1...32 ~= name.utf8.count, let first = name.utf8.first else { return false }
    return UInt8(ascii: "a")...UInt8(ascii: "z") ~= first
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
          UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  /// Somebody as all that was decided has made them.
  package func user(_ name: String) throws(UsersError) -> User {
    guard let user = ledger.newest[name] else { throw .unknown(name: name) }
    return user
  }

  private func check(_ text: String, _ parameter: String, max: Int) throws(UsersError) {
    guard text.utf8.count <= max else { throw .tooLong(parameter: parameter, max: max) }
    guard !text.hasControlCharacters else { throw .badText(parameter: parameter) }
  }

  private func record(_ event: UserEvent, of name: String) {
    ledger.record(event, in: "users/" + name)
  }
}

extension String {
  /// Whether something in it would steer a terminal.
  var hasControlCharacters: Bool {
    unicodeScalars.contains { $0.value < 0x20 || 0x7F..<0xA0 ~= $0.value }
  }
}
