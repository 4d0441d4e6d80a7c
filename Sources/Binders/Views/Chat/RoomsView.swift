internal import Connections
internal import Services
internal import Signals

/// Shows the rooms, and what of them has not been read; from here one enters them.
func bindRooms(_ view: View, _ session: UserSession) {
  session.presence.online.map { $0.joined(separator: " ") }.bind(to: view["here"])
  session.rooms.all.map { $0.map(RoomRow.init) }.bind(to: view["rooms"])
  view.intent("create", NewRoom.self)
    .calls { try session.rooms.create($0.name, topic: $0.topic ?? "") }
  view.intent("leave", RoomRow.ID.self).calls { try session.rooms.leave($0.id) }.destructive()
  view.intent("enter", RoomRow.ID.self).calls { try session.rooms.enter($0.id) }
    .opens("room") { view, room in bindRoom(view, session, room.id) }
}

private struct RoomRow: Encodable, Equatable {
  let id: Int
  let name: String
  let unread: Int
  let members: Int
  let joined: Bool
  let topic: String

  init(_ entry: RoomsService.Entry) {
    (id, name, topic) = (entry.room.id, entry.room.name, entry.room.topic)
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
