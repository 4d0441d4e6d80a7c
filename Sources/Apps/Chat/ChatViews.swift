internal import Connections
internal import Signals

/// Shows the chat: the main view for a logged-in user, otherwise the login view.
func bindChat(_ view: View, _ session: ClientSession) {
  bindLoggedIn(view, session, "main", bindMain)
}

/// Shows the tabs of a logged-in user: rooms and profile.
func bindMain(_ view: View, _ session: LoggedInUser) {
  session.presence.rows.bind(to: view["here"])
  view.tabs(("rooms", { bindRooms($0, session) }), ("profile", { bindProfile($0, session) }))
}

/// Shows the rooms with their unread counts, and lets the user enter one.
func bindRooms(_ view: View, _ session: LoggedInUser) {
  // A terminal shows this view alone, and a page the main view beside it.
  session.presence.all.bind(to: view["here"].hint(.quiet), as: NamesLine.self)
  session.rooms.all.bind(to: view["rooms"], as: RoomRow.self)
  view.intent("enter", RoomRow.ID.self).calls { try session.rooms.enter($0.id) }
    .opens("room") { view, room in bindRoom(view, session, room.id) }
    .main()
  view.intent("create", NewRoom.self)
    .calls { try session.rooms.create($0.name, topic: $0.topic ?? "") }
  view.intent("leave", RoomRow.ID.self).calls { try session.rooms.leave($0.id) }.destructive()
    .whenRow("joined", isMet: true)
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
    (unread, members, joined) = (entry.unread, entry.room.members.count, entry.isJoined)
  }

  struct ID: Decodable {
    let id: Int
  }
}

private struct NewRoom: Decodable {
  let name: String
  let topic: String?
}

/// Lets members change the name and topic of a room, and its creator remove it.
func bindDescribeRoom(_ view: View, _ messages: MessagesService) {
  let shown = messages.roomNow
  view.assign("name", shown?.name)
  view.assign("topic", shown?.topic)
  view.intent("save", DescribedRoom.self).calls { new in
    // Saves only edited fields: another user may have changed the others meanwhile.
    try messages.describe(
      name: new.name == shown?.name ? nil : new.name,
      topic: new.topic == shown?.topic ? nil : new.topic)
  }
  .dismisses()
  .main()
  view.intent("dismiss").dismisses()
  view.intent("remove").calls { _ in try messages.remove() }.destructive()
}

private struct DescribedRoom: Decodable {
  let name: String
  let topic: String
}
