internal import Connections
internal import Services

/// Lets a user change their profile: presented, saved or dismissed.
func bindEditProfile(_ view: View, _ session: UserSession) {
  view.assign("fullName", session.users.user?.fullName)
  view.assign("about", session.users.user?.about)
  view.intent("save", EditedProfile.self)
    .calls { try session.users.edit(fullName: $0.fullName, about: $0.about) }.dismisses()
  view.intent("dismiss").dismisses()
}

private struct EditedProfile: Decodable {
  let fullName: String
  let about: String
}
