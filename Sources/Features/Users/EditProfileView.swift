internal import Connections

/// Lets a user edit their profile and save or dismiss it.
func bindEditProfile(_ view: View, _ session: UserSession) {
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
