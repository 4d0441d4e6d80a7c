package import Binder
package import Signals

/// The users of the services: names, profiles, friends and login tokens.
///
/// The kernel identifies callers by uid. A name belongs to the uid that claimed it first. Anyone
/// else needs a token of its owner to log in.
package final class UsersService {
  /// The maximum number of names of one uid.
  package static let maxNames = 16
  package static let maxTokens = 16
  package static let maxFriends = 1000
  package static let maxFullName = 64
  package static let maxAbout = 400

  package let ledger: Ledger<Users>
  private let secrets: any Secrets
  private let account: (_ name: String) -> UInt32?

  /// Secrets made in advance; `nil` for one that could not be made.
  private var made: [NewSecret?] = []

  /// Emits durably claimed names, keyed by uid.
  private let claims = KeyedSubject<UInt32, String>()
  private let observation = SerialDisposable(otherDisposable: nil)

  /// - Parameter account: Returns the uid of the machine account with a name. Only that uid may
  ///   claim the name.
  package init(
    in host: Host, secrets: any Secrets,
    account: @escaping (_ name: String) -> UInt32? = { _ in nil }
  ) {
    ledger = Ledger("users", in: host)
    self.secrets = secrets
    self.account = account
    observation.otherDisposable = ledger.events.observeNext { [claims] event, context in
      guard case .registered(let uid) = event, let name: String = context.key() else { return }
      claims.send(name, to: uid)
    }
  }

  /// Returns the names claimed by a uid; for views.
  func names(of uid: UInt32) -> RowList<String, String> {
    RowList(
      Identity(self, "names", uid), keys: { [ledger] in ledger.committed.names(of: uid) },
      row: { [ledger] name in ledger.committed[name]?.uid == uid ? name : nil },
      changes: claims.elements(of: uid).map { .rows([$0]) })
  }

  /// Emits the durable events of a user, from now on.
  func events(of name: String) -> SafeSignal<(event: Users.Event, context: EventContext)> {
    ledger.events(of: \.users, name)
  }

  // MARK: Identity

  /// Returns the user with a name; registers the name if it is free.
  package func claim(_ name: String, by uid: UInt32) throws(UsersError) -> User {
    if let user = ledger.pending[name] {
      guard user.uid == uid else { throw .taken(name: name) }
      return user
    }
    guard Self.isName(name) else { throw .badName }
    if let owner = account(name), owner != uid { throw .taken(name: name) }
    guard ledger.pending.names(of: uid).count < Self.maxNames else {
      throw .tooManyNames(max: Self.maxNames)
    }
    record(.registered(uid: uid), of: name)
    return try user(name)
  }

  /// Returns the user and the number of a token, and a signal that emits whether the token is
  /// valid.
  ///
  /// - Throws: `badToken` if the text is not a token, or its number is unknown.
  package func user(
    withToken token: String
  ) throws(UsersError) -> (user: User, id: Int, isGood: SafeSignal<Bool>) {
    let parts = token.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let id = Int(parts[0]), secrets.isSecret(parts[1]),
      let kept = ledger.pending.tokens[id], let user = ledger.pending[kept.user]
    else { throw .badToken }
    return (user, id, secrets.matches(parts[1], hash: kept.hash))
  }

  /// Issues a token, which lets its holder log in as the user.
  ///
  /// - Parameter wake: Called when a secret is ready after this has thrown `pending`.
  /// - Returns: The token: its number, a point and the secret. Only a hash of the secret is
  ///   stored.
  package func issueToken(
    to name: String, wake: @escaping () -> Void = {}
  ) throws(UsersError) -> String {
    _ = try user(name)
    let count = tokenCount(of: name)
    guard count < Self.maxTokens else { throw .tooManyTokens(max: Self.maxTokens) }
    try prepareToken(wake: wake)
    let id = ledger.pending.tokens.nextID
    guard let new = made.removeFirst(), id > 0 else { throw .noTokens }
    record(.tokenIssued(id: id, hash: new.hash), of: name)
    return "\(id).\(new.secret)"
  }

  /// Ensures that a secret for a token is available.
  ///
  /// - Throws: `pending` while one is being made; `wake` is called when it is ready.
  package func prepareToken(wake: @escaping () -> Void) throws(UsersError) {
    guard made.isEmpty else { return }
    _ = secrets.make().observeNext { [weak self] new in
      self?.made.append(new)
      wake()
    }
    if made.isEmpty { throw .pending }
  }

  /// Revokes all tokens of a user; sessions that logged in with one are logged out.
  ///
  /// - Returns: The number of tokens.
  package func revokeTokens(of name: String) throws(UsersError) -> Int {
    _ = try user(name)
    let count = tokenCount(of: name)
    if count > 0 { record(.tokensRevoked, of: name) }
    return count
  }

  // MARK: Profiles and friends

  /// Changes a user's profile; `nil` leaves a field unchanged.
  package func edit(
    _ name: String, fullName: String?, about: String?
  ) throws(UsersError) -> User {
    let user = try user(name)
    let (fullName, about) = (fullName ?? user.fullName, about ?? user.about)
    try check(fullName, "full_name", max: Self.maxFullName)
    try check(about, "about", max: Self.maxAbout)
    if (fullName, about) != (user.fullName, user.about) {
      record(.edited(fullName: fullName, about: about), of: name)
    }
    return try self.user(name)
  }

  /// Adds a friend to a user, without the friend's consent.
  ///
  /// - Returns: Whether they were not a friend before. If they were, nothing is recorded.
  package func befriend(_ friend: String, of name: String) throws(UsersError) -> Bool {
    let user = try user(name)
    _ = try self.user(friend)
    guard friend != name else { throw .oneself }
    guard !user.friends.contains(friend) else { return false }
    guard user.friends.count < Self.maxFriends else { throw .tooManyFriends(max: Self.maxFriends) }
    record(.friendAdded(name: friend), of: name)
    return true
  }

  /// Removes a friend from a user.
  ///
  /// - Returns: Whether they were a friend.
  package func unfriend(_ friend: String, of name: String) throws(UsersError) -> Bool {
    guard try user(name).friends.contains(friend) else { return false }
    record(.friendRemoved(name: friend), of: name)
    return true
  }

  private func tokenCount(of name: String) -> Int {
    ledger.pending.tokens.rows.count { $0.user == name }
  }

  /// Returns whether a text is a valid name, registered or not.
  package static func isName(_ name: String) -> Bool {
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

  /// Returns a user from the pending state, which includes events that are not durable yet.
  package func user(_ name: String) throws(UsersError) -> User {
    guard let user = ledger.pending[name] else { throw .unknown(name: name) }
    return user
  }

  private func check(_ text: String, _ parameter: String, max: Int) throws(UsersError) {
    guard text.utf8.count <= max else { throw .tooLong(parameter: parameter, max: max) }
    guard !text.hasControlCharacters else { throw .badText(parameter: parameter) }
  }

  private func record(_ event: Users.Event, of name: String) {
    ledger.record(event, of: \.users, name)
  }
}

extension String {
  /// Whether the text contains control characters, which could affect a terminal.
  var hasControlCharacters: Bool {
    let bytes = utf8.span
    for i in bytes.indices {
      let byte = bytes[i]
      if byte < 0x20 || byte == 0x7F { return true }
      // Scalars from U+0080 to U+009F are 0xC2 and a byte below 0xA0.
      if byte == 0xC2, i + 1 < bytes.count, bytes[i + 1] < 0xA0 { return true }
    }
    return false
  }
}

extension UsersService {
  /// Emits when a user, or one of their friends, may have changed; events of others cost nothing.
  ///
  /// - Parameter events: Returns the signal that reports changes of a friend.
  func friendEvents(
    of name: String, _ events: @escaping (_ friend: String) -> SafeSignal<Void>
  ) -> SafeSignal<Void> {
    SafeSignal { [self] observer in
      var friends: [String: any Disposable] = [:]
      func follow() {
        let now = Set(ledger.committed[name]?.friends ?? [])
        for (friend, observation) in friends where !now.contains(friend) {
          observation.dispose()
          friends[friend] = nil
        }
        for friend in now where friends[friend] == nil {
          friends[friend] = events(friend).observeNext { observer.receive(()) }
        }
      }
      follow()
      let own = self.events(of: name).observeNext { event, _ in
        switch event {
        case .friendAdded, .friendRemoved: follow()
        default: break
        }
        observer.receive(())
      }
      return BlockDisposable {
        own.dispose()
        for observation in friends.values { observation.dispose() }
        friends = [:]
      }
    }
  }
}
