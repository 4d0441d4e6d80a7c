package import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals

/// Offers the users, their logins, profiles and friends to clients.
package func bindUsers(
  _ catalog: Catalog, to users: UsersService, _ clients: SessionTable
) {
  catalog.actor = { clients.known($0)?.name }
  clients.restore(catalog)
  catalog.offer(
    "The users of the services, their profiles and friends. A name belongs to the machine user who "
      + "claims it first, an account name to its account. From elsewhere, log in with a token.",
    users.ledger)
  catalog.offerSources(
    of: users.ledger,
    [.init("users/*", "The profile: name, full_name, about, friends.", Shape(of: Profile.self))],
    exists: UsersService.isUser)
  bindLogin(catalog, to: users, clients)
  bindProfiles(catalog, to: users, clients)
  catalog.offerView(
    "profile", of: "users", "Your profile and friends; also logs you out.", As.self
  ) { view, context, who in
    let session = clients[context]
    guard who.as != nil || session.user.value != nil else {
      return bindLoggedIn(view, session, "profile", bindProfile)
    }
    let user = try session.userSession(as: who.as)
    bindProfile(view, user)
    view.isFor(user, in: session)
  }
  catalog.offerView("friends", of: "users", "Your friends, and which of them are online.", As.self)
  {
    view, context, who in
    let session = clients[context]
    let user = try session.userSession(as: who.as)
    bindFriends(view, user)
    view.isFor(user, in: session)
  }
}

extension Feature {
  /// - Parameter close: Ends the thread that compares secrets.
  package static func users(
    _ users: UsersService, _ presence: PresenceService, _ clients: SessionTable,
    close: @escaping () -> Void
  ) -> Feature {
    Feature(close: close) { catalog in
      bindUsers(catalog, to: users, clients)
      bindPresence(catalog, to: presence)
    }
  }
}

private func bindLogin(_ catalog: Catalog, to users: UsersService, _ clients: SessionTable) {
  catalog.command(
    "users.log_in",
    "Logs this connection in, with a token or a name; a free name becomes yours. "
      + "Returns the name.",
    Login.self, writes: ["users.registered"], errors: ["name_taken", "bad_token", "too_many"],
    isKept: false,
    site: .both { context, params in
      guard let params, let login: Login = try? context.decode(params, ["name", "token"]) else {
        return .failed
      }
      do throws(UsersError) {
        _ = try login.run(clients[context])
        return .done
      } catch {
        return error.isPending ? .pending : .failed
      }
    }
  ) { context, login throws(UsersError) in try login.run(clients[context]).name }
  catalog.command(
    "users.log_out", "Logs this connection out; returns whether it was logged in.",
    NoParameters.self, writes: [], isKept: false,
    site: .both { context, _ in
      clients[context].logOut()
      return .done
    }
  ) { context, _ throws(UsersError) in clients[context].logOut() }
  catalog.command(
    "users.token", "Creates a token to log in with from elsewhere; it is shown only once.",
    As.self, writes: ["users.token_issued"], errors: asErrors + ["too_many"],
    isKept: false
  ) { context, who throws(UsersError) in
    try clients[context].issueToken(as: who.as)
  }
  catalog.command(
    "users.revoke", "Revokes all your tokens and ends their logins; returns how many.",
    As.self, writes: ["users.tokens_revoked"], errors: asErrors
  ) { context, who throws(UsersError) in
    try users.revokeTokens(of: clients[context].actor(as: who.as))
  }
}

private func bindProfiles(_ catalog: Catalog, to users: UsersService, _ clients: SessionTable) {
  catalog.command(
    "users.edit", "Changes your profile; omitted members stay. Returns the profile.",
    EditUser.self, writes: ["users.edited"], errors: asErrors
  ) { context, edit throws(UsersError) in
    let name = try clients[context].actor(as: edit.as)
    return Profile(try users.edit(name, fullName: edit.fullName, about: edit.about))
  }
  catalog.command(
    "users.add_friend", "Adds a friend; returns whether they were not one before.",
    Friend.self, writes: ["users.friend_added"], errors: asErrors + ["oneself"]
  ) { context, friend throws(UsersError) in
    let name = try clients[context].actor(as: friend.as)
    guard context.mayKnow("users/" + friend.name) else { throw .unknown(name: friend.name) }
    return try users.befriend(friend.name, of: name)
  }
  catalog.command(
    "users.remove_friend", "Removes a friend; returns whether they were one.",
    Friend.self, writes: ["users.friend_removed"], errors: asErrors
  ) { context, friend throws(UsersError) in
    try users.unfriend(friend.name, of: clients[context].actor(as: friend.as))
  }
  catalog.query(
    "users.whoami", "Returns the name this connection is logged in as, and your names.",
    NoParameters.self
  ) { context, _, _ in
    Who(
      user: clients[context].user.value?.name,
      names: users.ledger.committed.names(of: context.caller.uid))
  }
}

/// The documentation of the parameter `as`.
package let asDoc = "One of your names; left out: the one you are logged in as."

/// The reasons for which a call with the parameter `as` may be rejected.
package let asErrors = ["not_logged_in", "logged_in", "name_taken"]

private struct As: DocumentedParameters, PersonalParameters {
  let `as`: String?

  static let docs = ["as": asDoc]
}

private struct Login: DocumentedParameters {
  let name: String?
  let token: String?

  static let docs = [
    "name": "1 to 32 of a-z 0-9 _ - with a letter first.",
    "token": "The result of users.token.",
  ]

  /// Logs a session in.
  func run(_ session: ClientSession) throws(UsersError) -> User {
    switch (name, token) {
    case (let name?, nil): try session.logIn(name: name)
    case (nil, let token?): try session.logIn(token: token)
    default: throw .nameOrToken
    }
  }
}

private struct EditUser: DocumentedParameters, PersonalParameters {
  let fullName: String?
  let about: String?
  let `as`: String?

  private enum CodingKeys: String, CodingKey {
    case fullName = "full_name"
    case about, `as`
  }

  static let docs = [
    "full_name": "Your full name, 64 bytes at most.", "about": "400 bytes at most.",
    "as": asDoc,
  ]
}

private struct Friend: DocumentedParameters, PersonalParameters {
  let name: String
  let `as`: String?

  static let docs = ["name": "The name of the friend.", "as": asDoc]
}

private struct Profile: Codable {
  let name: String
  let fullName: String
  let about: String
  let friends: [String]

  private enum CodingKeys: String, CodingKey {
    case name
    case fullName = "full_name"
    case about, friends
  }

  init(_ user: User) {
    (name, fullName, about, friends) = (user.name, user.fullName, user.about, user.friends)
  }
}

private struct Who: Codable {
  let user: String?
  let names: [String]
}

/// Offers the names of the online users to clients.
package func bindPresence(_ catalog: Catalog, to presence: PresenceService) {
  catalog.offer("presence", "Who is online: users logged in on a connection.")
  catalog.offerSource(
    "presence/online", "The names of the users online, sorted.", presence.online)
}
