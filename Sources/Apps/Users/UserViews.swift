internal import Connections
internal import Signals

/// Shows the profile of another user.
func bindUser(_ view: View, _ session: LoggedInUser, _ name: String) {
  view.assign("name", name)
  session.users.profile(of: name).map(\.fullName).bind(to: view["full_name"].hint(.quiet))
  session.users.profile(of: name).map(\.about).bind(to: view["about"].hint(.quiet))
  session.presence.presence(of: name).bind(to: view["here"])
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
  session.user.map { $0?.name }.bind(to: view["user"].hint(.quiet))
  session.user.bind(to: view) { view, user in
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
  session.names.bind(to: view["names"], as: NameRow.self)
  view.intent("log_in", NewName.self).calls { _ = try session.logIn(name: $0.name) }.unkept()
    .main()
  view.intent("choose", NameRow.self).calls { _ = try session.logIn(known: $0.id) }.unkept()
    .main()
  view.intent("token", GivenToken.self).calls { _ = try session.logIn(token: $0.token) }.unkept()
}

private struct NameRow: Codable, ListRow {
  let id: String

  init(_ name: String, _: String) { id = name }
}

private struct NewName: Decodable {
  let name: String
}

private struct GivenToken: Decodable {
  let token: String
}

/// Shows the profile of the logged-in user.
func bindProfile(_ view: View, _ session: LoggedInUser) {
  view.assign("name", session.name)
  session.users.profile.map(\.fullName).bind(to: view["full_name"].hint(.quiet))
  session.users.profile.map(\.about).bind(to: view["about"].hint(.quiet))
  session.users.friends.mapValue { $0.map(\.name) }
    .consumeLoadingState(by: view["friends"]).bind(to: view["friends"])
  view.intent("edit_profile").opens("edit_profile", as: .present) { view, _ in
    bindEditProfile(view, session)
  }
  .main()
  view.intent("friends").opens("friends") { view, _ in bindFriends(view, session) }
  let added = view["added"].hint(.quiet).loadedWhenAsked()
  view.intent("add_friend", NamedFriend.self).flatMapLatest { session.users.addFriend($0.name) }
    .consumeLoadingState(by: added).bind(to: added)
  view.intent("token").opens("token", as: .present) { view, _ in bindToken(view, session) }
  view.intent("log_out").calls { _ in session.logOut() }.unkept()
}

private struct NamedFriend: Decodable {
  let name: String
}

/// Lets a user edit their profile and save or dismiss it.
func bindEditProfile(_ view: View, _ session: LoggedInUser) {
  let shown = session.users.user
  view.assign("full_name", shown?.fullName)
  view.assign("about", shown?.about)
  view.intent("save", EditedProfile.self).calls { new in
    // Saves only edited fields: the others may have been changed elsewhere meanwhile.
    try session.users.edit(
      fullName: new.fullName == shown?.fullName ? nil : new.fullName,
      about: new.about == shown?.about ? nil : new.about)
  }
  .dismisses()
  .main()
  view.intent("dismiss").dismisses()
}

private struct EditedProfile: Decodable {
  let fullName: String
  let about: String

  private enum CodingKeys: String, CodingKey {
    case fullName = "full_name"
    case about
  }
}

/// Shows the friends of the logged-in user and which of them are online.
func bindFriends(_ view: View, _ session: LoggedInUser) {
  session.users.friendsHere.bind(to: view["friends"], as: FriendRow.self)
  view.intent("show", FriendRow.ID.self).calls { try session.users.check($0.id) }
    .opens("user") { view, friend in bindUser(view, session, friend.id) }
    .main()
  let added = view["added"].hint(.quiet).loadedWhenAsked()
  view.intent("add", NewFriend.self).flatMapLatest { session.users.addFriend($0.name) }
    .consumeLoadingState(by: added).bind(to: added)
  view.intent("remove", FriendRow.ID.self).calls { try session.users.removeFriend($0.id) }
}

private struct FriendRow: Encodable, Rendering {
  let id: String
  let fullName: String
  let isHere: Bool

  private enum CodingKeys: String, CodingKey {
    case id
    case fullName = "full_name"
    case isHere = "here"
  }

  init(_ friend: ProfileService.Friend) {
    (id, fullName, isHere) = (friend.user.name, friend.user.fullName, friend.isHere)
  }

  struct ID: Decodable {
    let id: String
  }
}

private struct NewFriend: Decodable {
  let name: String
}

/// Creates login tokens for the logged-in user.
///
/// Each token is shown only once.
func bindToken(_ view: View, _ session: LoggedInUser) {
  view.assign(
    "how", "a token lets you log in as \(session.name) from elsewhere; it is shown only once")
  let token = view["token"].hint(.quiet).loadedWhenAsked()
  view.intent("make").calls { _ in try session.prepareToken() }.unkept().main()
    .flatMapLatest { _ in session.users.token }
    .consumeLoadingState(by: token).bind(to: token)
  view.intent("done").dismisses()
  view.intent("revoke_all").calls { _ in try session.users.revokeTokens() }.destructive()
}

extension View {
  /// Closes the view when the user logs out or another one logs in.
  func isFor(_ user: LoggedInUser, in session: ClientSession) {
    session.user.bind(to: self) { view, now in if now !== user { view.dismiss() } }
  }
}
