internal import Connections
internal import Services
internal import Signals

/// What there is for who is logged in, beside each other: the rooms, and the profile.
func bindMain(_ view: View, _ session: UserSession) {
  session.presence.rows.bind(to: view["here"])
  view.tabs(("rooms", { bindRooms($0, session) }), ("profile", { bindProfile($0, session) }))
}
