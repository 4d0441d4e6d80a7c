package import Binder
package import Signals

/// The factory of client sessions; it holds the services that all sessions share.
package final class SessionFactory {
  package let users: UsersService
  package let presence: PresenceService
  package let chat: ChatService
  let host: Host

  /// The read marks of all users.
  package let marks: ReadMarks

  package init(
    in host: Host, users: UsersService, presence: PresenceService, chat: ChatService,
    on scheduler: any Scheduler
  ) {
    (self.host, self.users, self.presence, self.chat) = (host, users, presence, chat)
    marks = ReadMarks(of: chat, in: host, on: scheduler)
  }

  /// Creates the session of a new client.
  package func session(of caller: Caller) -> ClientSession { ClientSession(caller, in: self) }
}

/// The sessions of connected clients.
package typealias SessionTable = Sessions<ClientSession>

/// A client's session: its identity and its logged-in user, from connect to disconnect.
///
/// Binders receive it together with the client. It provides the dependencies of all views that
/// are opened later.
package final class ClientSession {
  package let caller: Caller

  /// The logged-in user with their services; `nil` if nobody is logged in.
  ///
  /// A newly registered user is logged in once the registration is durable.
  package var user: AnyProperty<LoggedInUser?> { current.readOnlyView }

  /// A login: the name, and the token if one was used; without one, the name belongs to the caller.
  ///
  /// It is kept in this form over a restart of the daemon.
  package struct Login: Codable {
    let name: String
    let token: Int?

    func stands(in users: Users) -> Bool {
      users[name] != nil && token.map { users.tokens[$0]?.user == name } ?? true
    }
  }

  /// The last token check, running or finished.
  private var check: TokenCheck?

  private final class TokenCheck {
    let token: String
    var isGood: Bool?
    var work: (any Disposable)?

    init(_ token: String) { self.token = token }

    deinit { work?.dispose() }

    /// Returns the result; throws `pending` if it is not available yet.
    func result() throws(UsersError) -> Bool {
      guard let isGood else { throw .pending }
      return isGood
    }
  }

  private let current = Property<LoggedInUser?>(nil)
  private let sessions: SessionFactory?
  private var login: Login?
  private var isEnded = false
  private let observation = SerialDisposable(otherDisposable: nil)

  /// Counts the logins and logouts of this session.
  private var turn = 0
  private let live = LiveNode("ClientSession")

  /// - Parameter sessions: `nil` if login is not supported.
  package init(_ caller: Caller, in sessions: SessionFactory? = nil) {
    (self.caller, self.sessions) = (caller, sessions)
  }

  /// The names that the calling user has claimed; for views.
  package var names: RowList<String, String> { users.names(of: caller.uid) }

  private var users: UsersService {
    guard let sessions else { preconditionFailure("nobody can log in here") }
    return sessions.users
  }

  /// The name of the logged-in user in the pending state; `nil` if nobody is logged in.
  package var name: String? { try? actor() }

  // MARK: Login and logout

  /// Logs in under a name; registers the name if it is free.
  package func logIn(name: String) throws(UsersError) -> User {
    if let known = users.ledger.pending[name], known.uid != caller.uid, isHidden(name) {
      throw .hidden(name: name)
    }
    let user = try users.claim(name, by: caller.uid)
    begin(Login(name: name, token: nil))
    return user
  }

  /// Logs in under a name that the calling user has claimed before.
  package func logIn(known name: String) throws(UsersError) -> User {
    guard users.ledger.pending[name]?.uid == caller.uid else { throw .unknown(name: name) }
    return try logIn(name: name)
  }

  /// Logs in with a token.
  ///
  /// - Throws: `pending` while the token is being verified; the command runs again afterwards.
  package func logIn(token: String) throws(UsersError) -> User {
    let (user, id, isGood) = try users.user(withToken: token)
    let check = check?.token == token ? self.check : nil
    let isTheOne = try (check ?? begin(TokenCheck(token), isGood)).result()
    self.check = nil
    guard isTheOne else { throw .badToken }
    begin(Login(name: user.name, token: id))
    return user
  }

  private func begin(_ check: TokenCheck, _ isGood: SafeSignal<Bool>) -> TokenCheck {
    self.check = check
    check.work = isGood.observeNext { [weak self, weak check] isGood in
      check?.isGood = isGood
      self?.caller.runAgain()
    }
    return check
  }

  /// Issues a token; see ``UsersService/issueToken(to:wake:)``.
  package func issueToken(as name: String?) throws(UsersError) -> String {
    try users.issueToken(to: actor(as: name), wake: wake)
  }

  /// Ensures that a token can be issued in the same command.
  func prepareToken() throws(UsersError) {
    try users.prepareToken(wake: wake)
  }

  private var wake: () -> Void { { [weak self] in self?.caller.runAgain() } }

  /// Returns whether a user's existence is hidden from the client.
  private func isHidden(_ name: String) -> Bool { !caller.mayKnow("users/" + name) }

  /// Logs out.
  ///
  /// - Returns: Whether a user was logged in.
  @discardableResult
  package func logOut() -> Bool {
    let wasIn = login != nil
    login = nil
    if wasIn, !isEnded { caller.keepLogin(login) }
    watch(nil)
    updateUser()
    return wasIn
  }

  /// Ends the session when the client has disconnected.
  package func end() {
    isEnded = true
    check = nil
    logOut()
    observation.dispose()
  }

  /// Returns the name on whose behalf a call is made: the logged-in user, or a name of the
  /// calling user.
  ///
  /// - Parameter name: The name; `nil` for the logged-in user. While a user is logged in, no
  ///   other name is allowed.
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

  /// Returns the services of the logged-in user.
  ///
  /// If nobody is logged in, logs in under the given name.
  ///
  /// It never logs a user out: a name other than the logged-in one is rejected.
  package func userSession(as name: String? = nil) throws(UsersError) -> LoggedInUser {
    if let user = current.value, name == nil || user.name == name { return user }
    let name = try actor(as: name)
    if login?.name != name { begin(Login(name: name, token: nil)) }
    guard let user = current.value else { throw .notLoggedIn }
    return user
  }

  /// The name of the login, if it is valid in the pending state.
  private var claimed: String? {
    login.flatMap { $0.stands(in: users.ledger.pending) ? $0.name : nil }
  }

  /// Logs in again after a restart of the daemon, if the login is still valid.
  package func resume(_ login: Login) {
    if login.stands(in: users.ledger.pending) { begin(login) }
  }

  private func begin(_ login: Login) {
    self.login = login
    caller.keepLogin(login)
    updateUser()
    // The validity of the login depends only on events of this user.
    watch(users.events(of: login.name).observeNext { [weak self] _ in self?.updateUser() })
  }

  /// Replaces the observation; a serial disposable does not dispose the previous one.
  private func watch(_ next: (any Disposable)?) {
    observation.otherDisposable?.dispose()
    observation.otherDisposable = next
  }

  /// Updates ``user`` to match the login in the durable state.
  private func updateUser() {
    let name = login.flatMap { $0.stands(in: users.ledger.committed) ? $0.name : nil }
    let before = current.value?.name
    guard name != before, let sessions else { return }
    if let name { sessions.presence.enter(name) }
    turn += 1
    current.value = name.map { name in
      LoggedInUser(name, self, sessions, loginCheck(of: name))
    }
    if let before { sessions.presence.leave(before) }
  }

  /// Returns a check of whether this login is still valid in the pending state.
  private func loginCheck(of name: String) -> LoginCheck {
    LoginCheck { [weak self, turn] in self?.turn == turn && self?.claimed == name }
  }
}
