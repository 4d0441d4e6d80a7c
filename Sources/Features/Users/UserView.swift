internal import Connections
internal import Signals

/// Shows the profile of another user.
func bindUser(_ view: View, _ session: UserSession, _ name: String) {
  view.assign("name", name)
  session.users.profile(of: name).map(\.fullName).bind(to: view["full_name"].hint(.quiet))
  session.users.profile(of: name).map(\.about).bind(to: view["about"].hint(.quiet))
  session.presence.presence(of: name).bind(to: view["here"])
}
