package import Signals

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
  private let account: (_ name: String) -> UInt32?

  /// Secrets that were made and not given to anybody yet; `nil` for one that could not be made.
  private var made: [NewSecret?] = []

  /// The names that users of this machine claim, when that is durable.
  private let claims = KeyedSubject<UInt32, String>()
  private let observation = SerialDisposable(otherDisposable: nil)

  /// - Parameter account: The user of the machine whose account has a name, which nobody else claims.
  package init(
    in host: ServiceHost, secrets: any Secrets,
    account: @escaping (_ name: String) -> UInt32? = { _ in nil }
  ) {
    ledger = Ledger("users", in: host)
    self.secrets = secrets
    self.account = account
    observation.otherDisposable = ledger.happened.observeNext { [claims] event, place in
      guard case .registered(let uid) = event else { return }
      claims.send(String(place.stream.dropFirst("users/".count)), to: uid)
    }
  }

  /// The names that a user of this machine has claimed: for views.
  func names(of uid: UInt32) -> RowList<String, String> {
    RowList(
      Identity(self, "names", uid), keys: { [ledger] in ledger.shown.names(of: uid) },
      row: { [ledger] name in ledger.shown[name]?.uid == uid ? name : nil },
      changes: claims.elements(of: uid).map { .rows([$0]) })
  }

  /// What happens to a user from now on, when it is durable.
  func events(of name: String) -> SafeSignal<(event: UserEvent, place: Place)> {
    ledger.events(in: "users/" + name)
  }

  // MARK: Who somebody is

  /// Finds the name of somebody who logs in, and registers it when nobody has it.
  package func claim(_ name: String, by uid: UInt32) throws(UsersError) -> User {
    if let user = ledger.newest[name] {
      guard user.uid == uid else { throw .taken(name: name) }
      return user
    }
    guard Self.isName(name) else { throw .badName }
    if let owner = account(name), owner != uid { throw .taken(name: name) }
    guard ledger.newest.names(of: uid).count < Self.maxNames else {
      throw .tooManyNames(max: Self.maxNames)
    }
    record(.registered(uid: uid), of: name)
    return try user(name)
  }

  /// The user that a token claims to be issued to, its number, and whether it is the one that was.
  ///
  /// - Throws: `badToken` for what has not the form of a token, or the number of none.
  package func user(
    withToken token: String
  ) throws(UsersError) -> (user: User, id: Int, isGood: SafeSignal<Bool>) {
    let parts = token.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let id = Int(parts[0]), secrets.isSecret(parts[1]),
      let kept = ledger.newest.tokens[id], let user = ledger.newest[kept.user]
    else { throw .badToken }
    return (user, id, secrets.matches(parts[1], hash: kept.hash))
  }

  /// Makes a token, with which whoever has it logs in as a user.
  ///
  /// - Parameter wake: Called when a secret was made after this has thrown `pending`.
  /// - Returns: The token: its number, a point and the secret. It is nowhere else: what is kept is a
  ///   hash of the secret.
  package func issueToken(
    to name: String, wake: @escaping () -> Void = {}
  ) throws(UsersError) -> String {
    _ = try user(name)
    let count = ledger.newest.tokens.values.count { $0.user == name }
    guard count < Self.maxTokens else { throw .tooManyTokens(max: Self.maxTokens) }
    try prepareToken(wake: wake)
    guard let new = made.removeFirst(), ledger.newest.lastToken < .max else { throw .noTokens }
    let id = ledger.newest.lastToken + 1
    record(.tokenIssued(id: id, hash: new.hash), of: name)
    return "\(id).\(new.secret)"
  }

  /// Makes sure that there is a secret for a token.
  ///
  /// - Throws: `pending` when one is being made; `wake` is called when that is done.
  package func prepareToken(wake: @escaping () -> Void) throws(UsersError) {
    guard made.isEmpty else { return }
    _ = secrets.make().observeNext { [weak self] new in
      self?.made.append(new)
      wake()
    }
    if made.isEmpty { throw .pending }
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
