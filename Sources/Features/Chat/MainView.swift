internal import Connections
internal import Signals

/// Shows the tabs of a logged-in user: rooms and profile.
func bindMain(_ view: View, _ session: UserSession) {
  session.presence.rows.bind(to: view["here"])
  view.tabs(("rooms", { bindRooms($0, session) }), ("profile", { bindProfile($0, session) }))
}
