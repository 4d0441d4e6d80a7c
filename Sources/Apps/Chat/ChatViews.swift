internal import Binder
internal import Signals

/// Shows the chat: the main view for a logged-in user, otherwise the login view.
func bindChat(_ view: View, _ session: ClientSession) {
  bindLoggedIn(view, session, "main", bindMain)
}

/// Shows the tabs of a logged-in user: rooms and profile.
func bindMain(_ view: View, _ session: LoggedInUser) {
  view.bind("here", to: session.presence.rows)
  view.tabs(("rooms", { bindRooms($0, session) }), ("profile", { bindProfile($0, session) }))
}

/// Shows the rooms with their unread counts, and lets the user enter one.
func bindRooms(_ view: View, _ session: LoggedInUser) {
  let id = Parameter<Int>("id")
  // A terminal shows this view alone, and a page the main view beside it.
  view.bind("here", to: session.presence.all.value(as: NamesLine.self))
  view.hint("here", .quiet)
  view.bind("rooms", to: session.rooms.all.rows(as: RoomRow.self))
  view.intent("enter", id, opens: "room", fill: { bindRoom($0, session, $1) }) {
    try session.rooms.enter($0)
  }
  .main()
  view.intent("create", Parameter("name"), Parameter("topic")) {
    (name: String, topic: String?) in try session.rooms.create(name, topic: topic ?? "")
  }
  view.intent("leave", id) { (id: Int) in try session.rooms.leave(id) }.destructive()
    .whenRow("joined")
}

/// Names in one line.
private struct NamesLine: Rendering, Encodable {
  let text: String

  init(_ names: [String]) { text = names.joined(separator: " ") }

  func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

private struct RoomRow: Encodable, ListRow {
  let id: Int
  let name: String
  let unread: Int
  let members: Int
  let joined: Bool
  let topic: String

  init(_ id: Int, _ entry: RoomsService.Entry) {
    (self.id, name, topic) = (id, entry.room.name, entry.room.topic)
    (unread, members, joined) = (entry.unread, entry.members, entry.isJoined)
  }
}

/// Lets members change the name and topic of a room, and its creator remove it.
func bindDescribeRoom(_ view: View, _ messages: MessagesService) {
  let shown = messages.roomNow
  view.assign("name", shown?.name)
  view.assign("topic", shown?.topic)
  view.intent("save", Parameter("name"), Parameter("topic")) { (name: String, topic: String) in
    // Saves only edited fields: another user may have changed the others meanwhile.
    try messages.describe(
      name: name == shown?.name ? nil : name, topic: topic == shown?.topic ? nil : topic)
  }
  .dismisses()
  .main()
  view.intent("dismiss").dismisses()
  view.intent("remove") { try messages.remove() }.destructive()
}
