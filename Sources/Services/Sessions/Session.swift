package import Signals

/// One client from when it comes until it leaves: who it is, and whether somebody is logged in.
///
/// It is what a binder is given beside the client, and solves the pyramid of dependencies: whatever a
/// view that is opened later needs, it has or makes.
package final class Session {
  package let caller: Caller

  /// The services.
  package let host: ServiceHost

  /// Who is logged in, and what there is for them; `nil` while nobody is.
  ///
  /// Somebody who is new is logged in as soon as the disk has their name.
  package var user: AnyProperty<UserSession?> { current.readOnlyView }

  /// Whether something may be recorded in a stream for this client, when nobody has asked; `nil` when
  /// in all.
  package var mayRecord: ((_ stream: String) -> Bool)?

  /// Whether the client may know that a source is there; `nil` when all of them.
  package var mayKnow: ((_ source: String) -> Bool)?

  /// Called when what a command has waited for is there: it is to be run again.
  package var onReady: (() -> Void)?

  /// The token that is being compared, or was, and with which result.
  private var check: TokenCheck?

  private final class TokenCheck {
    let token: String
    var isGood: Bool?
    var work: (any Disposable)?

    init(_ token: String) { self.token = token }

    deinit { work?.dispose() }

    /// The result.
    func take() throws(UsersError) -> Bool {
      guard let isGood else { throw .pending }
      return isGood
    }
  }

  private let current = Property<UserSession?>(nil)
  private let sessions: Sessions?
  private var claim: Claim?
  private let observation = SerialDisposable(otherDisposable: nil)

  /// Counts those who were logged in here, and the times when nobody was.
  private var turn = 0
  private let live = LiveNode("Session")

  /// As whom somebody has logged in, and with which token; without one it is a name of theirs.
  private struct Claim {
    let name: String
    let token: Int?

    func stands(in users: Users) -> Bool {
      users[name] != nil && token.map { users.tokens[$0]?.user == name } ?? true
    }
  }

  /// - Parameter sessions: `nil` where nobody can log in.
  package init(caller: Caller, host: ServiceHost, in sessions: Sessions? = nil) {
    (self.caller, self.host, self.sessions) = (caller, host, sessions)
  }

  /// The names that this user of the machine has claimed: for views.
  package var names: RowList<String, String> { users.names(of: caller.uid) }

  private var users: UsersService {
    guard let sessions else { preconditionFailure("nobody can log in here") }
    return sessions.users
  }

  /// The name of who is logged in, with all that was decided; `nil` while nobody is.
  package var name: String? { try? actor() }

  // MARK: In and out

  /// Logs in under a name, which is registered when nobody has it.
  package func logIn(name: String) throws(UsersError) -> User {
    if let known = users.ledger.newest[name], known.uid != caller.uid, isHidden(name) {
      throw .hidden(name: name)
    }
    let user = try users.claim(name, by: caller.uid)
    begin(Claim(name: name, token: nil))
    return user
  }

  /// Logs in under one of the names that this user of the machine has claimed before.
  package func logIn(known name: String) throws(UsersError) -> User {
    guard users.ledger.newest[name]?.uid == caller.uid else { throw .unknown(name: name) }
    return try logIn(name: name)
  }

  /// Logs in with a token.
  ///
  /// - Throws: `pending` while the token is being compared: ``onReady`` is called after that.
  package func logIn(token: String) throws(UsersError) -> User {
    let (user, id, isGood) = try users.user(withToken: token)
    let check = check?.token == token ? self.check : nil
    let isTheOne = try (check ?? begin(TokenCheck(token), isGood)).take()
    self.check = nil
    guard isTheOne else { throw .badToken }
    begin(Claim(name: user.name, token: id))
    return user
  }

  private func begin(_ check: TokenCheck, _ isGood: SafeSignal<Bool>) -> TokenCheck {
    self.check = check
    check.work = isGood.observeNext { [weak self, weak check] isGood in
      check?.isGood = isGood
      self?.onReady?()
    }
    return check
  }

  /// Makes a token for somebody; see ``UsersService/issueToken(to:wake:)``.
  package func issueToken(as name: String?) throws(UsersError) -> String {
    try users.issueToken(to: actor(as: name), wake: wake)
  }

  /// Makes sure that a token can be issued in the same command.
  func prepareToken() throws(UsersError) {
    try users.prepareToken(wake: wake)
  }

  private var wake: () -> Void { { [weak self] in self?.onReady?() } }

  /// Whether the client may know nothing of a user.
  private func isHidden(_ name: String) -> Bool { mayKnow?("users/" + name) == false }

  /// Logs out.
  ///
  /// - Returns: Whether somebody was logged in.
  @discardableResult
  package func logOut() -> Bool {
    let wasIn = claim != nil
    claim = nil
    watch(nil)
    settle()
    return wasIn
  }

  /// The client has left.
  package func end() {
    onReady = nil
    check = nil
    logOut()
    observation.dispose()
  }

  /// Whoever a call is made for: who is logged in, or a name of this user of the machine.
  ///
  /// - Parameter name: `nil` for who is logged in; while somebody is, nobody else.
  package func actor(as name: String? = nil) throws(UsersError) -> String {
    if let name {
      guard let users = sessions?.users else { throw .unknown(name: name) }
      let user = try users.user(name)
      guard user.uid == caller.uid || claimed == name else {
        throw isHidden(name) ? .unknown(name: name) : .taken(name: name)
      }
      if let claimed, claimed != name { throw .loggedIn(name: claimed) }
      return name
    }
    guard let claimed else { throw .notLoggedIn }
    return claimed
  }

  /// What there is for who is logged in, or, when nobody is, for a name that is logged in now.
  ///
  /// Nobody is logged out for it: another name than that of who is logged in is refused.
  package func userSession(as name: String? = nil) throws(UsersError) -> UserSession {
    if let user = current.value, name == nil || user.name == name { return user }
    let name = try actor(as: name)
    if claim?.name != name { begin(Claim(name: name, token: nil)) }
    guard let user = current.value else { throw .notLoggedIn }
    return user
  }

  /// As whom somebody has logged in, with all that was decided.
  private var claimed: String? {
    claim.flatMap { $0.stands(in: users.ledger.newest) ? $0.name : nil }
  }

  private func begin(_ claim: Claim) {
    self.claim = claim
    settle()
    // Whether the claim is good follows from what happens to this user, and to nobody else.
    watch(users.events(of: claim.name).observeNext { [weak self] _ in self?.settle() })
  }

  /// Observes nothing more but this: a serial disposable lets go of the one before, and no more.
  private func watch(_ next: (any Disposable)?) {
    observation.otherDisposable?.dispose()
    observation.otherDisposable = next
  }

  /// Brings ``user`` to where the claim is, as far as that is durable.
  private func settle() {
    let name = claim.flatMap { $0.stands(in: users.ledger.shown) ? $0.name : nil }
    let before = current.value?.name
    guard name != before, let sessions else { return }
    if let name { sessions.presence.enter(name) }
    turn += 1
    current.value = name.map { name in
      UserSession(name, self, sessions, standing(of: name))
    }
    if let before { sessions.presence.leave(before) }
  }

  /// Whether who is logged in from this turn on still is, with all that was decided.
  private func standing(of name: String) -> Standing {
    Standing { [weak self, turn] in self?.turn == turn && self?.claimed == name }
  }
}
