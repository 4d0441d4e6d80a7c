package import Binder
internal import Signals

/// Offers the users, their logins, profiles and friends to clients.
package func bindUsers(
  _ catalog: Catalog, to users: UsersService, _ clients: SessionTable
) {
  catalog.offer(
    "The users of the services, their profiles and friends. A name belongs to the machine user who "
      + "claims it first, an account name to its account. From elsewhere, log in with a token.",
    users.ledger)
  catalog.logins(in: clients, name: \.name) { $0.resume($1 as ClientSession.Login) }
  bindLogin(catalog, to: users, clients)
  bindProfiles(catalog, to: users, clients)
  let name = Parameter<String?>("as")
  catalog.view("profile", "Your profile and friends; also logs you out.", name) { view, name in
    let session = clients[view.caller]
    guard name != nil || session.user.value != nil else {
      return bindLoggedIn(view, session, "profile", bindProfile)
    }
    let user = try session.userSession(as: name)
    bindProfile(view, user)
    view.isFor(user, in: session)
  }
  catalog.view("friends", "Your friends, and which of them are online.", name) { view, name in
    let session = clients[view.caller]
    let user = try session.userSession(as: name)
    bindFriends(view, user)
    view.isFor(user, in: session)
  }
}

/// The parameter `as` of methods that act in the name of a user.
package var asUser: Parameter<String?> {
  .user(
    "as", "One of your names; left out: the one you are logged in as.",
    rejects: "not_logged_in", "logged_in", "name_taken")
}

private func bindLogin(_ catalog: Catalog, to users: UsersService, _ clients: SessionTable) {
  catalog.command(
    "users.log_in",
    "Logs this connection in, with a token or a name; a free name becomes yours. "
      + "Returns the name.",
    Parameter<String?>("name", "1 to 32 of a-z 0-9 _ - with a letter first."),
    Parameter<String?>("token", "The result of users.token."),
    records: "registered", rejects: "name_taken", "bad_token", "too_many"
  ) { (caller: Caller, name: String?, token: String?) throws -> String in
    switch (name, token) {
    case (let name?, nil): try clients[caller].logIn(name: name).name
    case (nil, let token?): try clients[caller].logIn(token: token).name
    default: throw UsersError.nameOrToken
    }
  }
  .unkept().changingSession()
  catalog.command(
    "users.log_out", "Logs this connection out; returns whether it was logged in."
  ) { (caller: Caller) in clients[caller].logOut() }
  .unkept().changingSession()
  catalog.command(
    "users.token", "Creates a token to log in with from elsewhere; it is shown only once.",
    asUser, records: "token_issued", rejects: "too_many"
  ) { (caller: Caller, name: String?) in try clients[caller].issueToken(as: name) }
  .unkept()
  catalog.command(
    "users.revoke", "Revokes all your tokens and ends their logins; returns how many.", asUser,
    records: "tokens_revoked"
  ) { (caller: Caller, name: String?) in
    try users.revokeTokens(of: clients[caller].actor(as: name))
  }
}

private func bindProfiles(_ catalog: Catalog, to users: UsersService, _ clients: SessionTable) {
  catalog.command(
    "users.edit", "Changes your profile; omitted members stay. Returns the profile.",
    Parameter<String?>("full_name", "Your full name, 64 bytes at most."),
    Parameter<String?>("about", "400 bytes at most."), asUser, records: "edited"
  ) { (caller: Caller, fullName: String?, about: String?, name: String?) in
    let name = try clients[caller].actor(as: name)
    return Profile(name, try users.edit(name, fullName: fullName, about: about))
  }
  let friend = Parameter<String>("name", "The name of the friend.")
  catalog.command(
    "users.add_friend", "Adds a friend; returns whether they were not one before.", friend, asUser,
    records: "friend_added", rejects: "oneself"
  ) { (caller: Caller, friend: String, name: String?) in
    let name = try clients[caller].actor(as: name)
    guard caller.mayKnow("users/" + friend) else { throw UsersError.unknown(name: friend) }
    return try users.befriend(friend, of: name)
  }
  catalog.command(
    "users.remove_friend", "Removes a friend; returns whether they were one.", friend, asUser,
    records: "friend_removed"
  ) { (caller: Caller, friend: String, name: String?) in
    try users.unfriend(friend, of: clients[caller].actor(as: name))
  }
  catalog.query(
    "users.whoami", "Returns the name this connection is logged in as, and your names."
  ) { (caller: Caller) in
    Who(
      user: clients[caller].user.value?.name,
      names: users.ledger.committed.names(of: caller.uid))
  }
}

private struct Who: Codable {
  let user: String?
  let names: [String]
}

/// Offers the names of the online users to clients.
package func bindPresence(_ catalog: Catalog, to presence: PresenceService) {
  catalog.offer("presence", "Who is online: users logged in on a connection.")
  catalog.source("presence/online", "The names of the users online, sorted.", presence.online)
}
