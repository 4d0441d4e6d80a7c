internal import Connections
internal import Signals

/// Shows the profile of the logged-in user.
func bindProfile(_ view: View, _ session: UserSession) {
  view.assign("name", session.name)
  session.users.profile.map(\.fullName).bind(to: view["full_name"])
  session.users.profile.map(\.about).bind(to: view["about"])
  session.users.friends.mapValue { $0.map(\.name) }
    .consumeLoadingState(by: view["friends"]).bind(to: view["friends"])
  view.intent("add_friend", NamedFriend.self).flatMapLatest { session.users.addFriend($0.name) }
    .consumeLoadingState(by: view["added"].loadedWhenAsked()).bind(to: view["added"])
  view.intent("friends").opens("friends") { view, _ in bindFriends(view, session) }
  view.intent("edit_profile").opens("edit_profile", as: .present) { view, _ in
    bindEditProfile(view, session)
  }
  view.intent("token").opens("token", as: .present) { view, _ in bindToken(view, session) }
  view.intent("log_out").calls { _ in session.logOut() }.unkept()
}

private struct NamedFriend: Decodable {
  let name: String
}
