internal import Connections
internal import Signals

/// Shows the rooms with their unread counts, and lets the user enter one.
func bindRooms(_ view: View, _ session: UserSession) {
  session.presence.all.bind(to: view["here"].hint(.quiet), as: NamesLine.self)
  session.rooms.all.bind(to: view["rooms"], as: RoomRow.self)
  view.intent("enter", RoomRow.ID.self).calls { try session.rooms.enter($0.id) }
    .opens("room") { view, room in bindRoom(view, session, room.id) }
    .main()
  view.intent("create", NewRoom.self)
    .calls { try session.rooms.create($0.name, topic: $0.topic ?? "") }
  view.intent("leave", RoomRow.ID.self).calls { try session.rooms.leave($0.id) }.destructive()
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
