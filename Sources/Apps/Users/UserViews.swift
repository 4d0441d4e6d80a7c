internal import Binder
internal import Signals

/// Shows the profile of another user.
func bindUser(_ view: View, _ session: LoggedInUser, _ name: String) {
  view.assign("name", name)
  bind(view, session.users.profile(of: name))
  view.bind("here", to: session.presence.presence(of: name))
}

/// Shows the full name of a user, and what they say of themselves.
private func bind(_ view: View, _ profile: SafeSignal<User>) {
  view.bind("full_name", to: profile.map(\.fullName))
  view.hint("full_name", .quiet)
  view.bind("about", to: profile.map(\.about))
  view.hint("about", .quiet)
}

/// Shows a view to the logged-in user, and the login view while nobody is logged in.
///
/// - Parameters:
///   - name: The name of the view for the user.
///   - bind: Binds that view.
func bindLoggedIn(
  _ view: View, _ session: ClientSession, _ name: String,
  _ bind: @escaping (View, LoggedInUser) -> Void
) {
  view.bind("user", to: session.user.map { $0?.name })
  view.hint("user", .quiet)
  view.observe(session.user) { user in
    if let user {
      view.open(name, as: .replace) { bind($0, user) }
    } else {
      view.open("login", as: .replace) { bindLogin($0, session) }
    }
  }
}

/// Lets a user log in with a known name, a new name or a token.
func bindLogin(_ view: View, _ session: ClientSession) {
  view.assign("welcome", "Choose a name. A new one becomes yours.")
  view.bind("names", to: session.names.rows(as: NameRow.self))
  view.intent("log_in", Parameter("name")) { (name: String) in
    _ = try session.logIn(name: name)
  }
  .unkept().main()
  view.intent("choose", Parameter("id")) { (name: String) in
    _ = try session.logIn(known: name)
  }
  .unkept().main()
  view.intent("token", Parameter("token")) { (token: String) in
    _ = try session.logIn(token: token)
  }
  .unkept()
}

private struct NameRow: Codable, ListRow {
  let id: String

  init(_ name: String, _: String) { id = name }
}

/// Shows the profile of the logged-in user.
func bindProfile(_ view: View, _ session: LoggedInUser) {
  view.assign("name", session.name)
  bind(view, session.users.profile)
  view.bindList("friends", toLoading: session.users.friends.mapValue { $0.map(\.name) })
  view.intent("edit_profile", opens: "edit_profile", as: .present) { bindEditProfile($0, session) }
    .main()
  view.intent("friends", opens: "friends") { bindFriends($0, session) }
  view.hint("added", .quiet)
  view.intent("add_friend", Parameter("name"), loads: "added") { session.users.addFriend($0) }
  view.intent("token", opens: "token", as: .present) { bindToken($0, session) }
  view.intent("log_out") { session.logOut() }.unkept()
}

/// Lets a user edit their profile and save or dismiss it.
func bindEditProfile(_ view: View, _ session: LoggedInUser) {
  let shown = session.users.user
  view.assign("full_name", shown?.fullName)
  view.assign("about", shown?.about)
  view.intent("save", Parameter("full_name"), Parameter("about")) {
    (fullName: String, about: String) in
    // Saves only edited fields: the others may have been changed elsewhere meanwhile.
    try session.users.edit(
      fullName: fullName == shown?.fullName ? nil : fullName,
      about: about == shown?.about ? nil : about)
  }
  .dismisses()
  .main()
  view.intent("dismiss").dismisses()
}

/// Shows the friends of the logged-in user and which of them are online.
func bindFriends(_ view: View, _ session: LoggedInUser) {
  let name = Parameter<String>("id")
  view.bindList("friends", to: session.users.friendsHere)
  view.intent("show", name, opens: "user", fill: { bindUser($0, session, $1) }) {
    try session.users.check($0)
  }
  .main()
  view.hint("added", .quiet)
  view.intent("add", Parameter("name"), loads: "added") { session.users.addFriend($0) }
  view.intent("remove", name) { try session.users.removeFriend($0) }
}

/// Creates login tokens for the logged-in user.
///
/// Each token is shown only once.
func bindToken(_ view: View, _ session: LoggedInUser) {
  view.assign(
    "how", "a token lets you log in as \(session.name) from elsewhere; it is shown only once")
  view.hint("token", .quiet)
  view.intent("make", loads: "token") {
    try session.prepareToken()
    return session.users.token
  }
  .unkept().main()
  view.intent("done").dismisses()
  view.intent("revoke_all") { try session.users.revokeTokens() }.destructive()
}

extension View {
  /// Closes the view when the user logs out or another one logs in.
  func isFor(_ user: LoggedInUser, in session: ClientSession) {
    observe(session.user) { [self] now in if now !== user { dismiss() } }
  }
}
