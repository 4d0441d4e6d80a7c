internal import Connections
internal import Signals

/// Shows the profile of the logged-in user.
func bindProfile(_ view: View, _ session: UserSession) {
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
