/// What can happen where people talk.
///
/// The stream is `chat/rooms/ID` for the room, `chat/rooms/ID/messages` for what is said in it, and
/// `chat/read/NAME` for what somebody has read.
package enum ChatEvent: ServiceEvent, Codable, Equatable {
  /// A room is there, and who has made it is its first member.
  case created(id: Int, name: String, topic: String, by: String)
  case renamed(id: Int, name: String, by: String)
  case topicSet(id: Int, topic: String, by: String)
  case joined(id: Int, name: String)
  case left(id: Int, name: String)

  /// A room is gone with all that was said in it; `nil` when who did it was nobody's name.
  case removed(id: Int, by: String?)

  /// A message; its number is the next of its room.
  case said(room: Int, id: Int, by: String, text: String)
  case edited(room: Int, id: Int, text: String)
  case deleted(room: Int, id: Int, by: String)

  /// Somebody has read a room up to a message.
  case read(room: Int, upTo: Int, by: String)

  package static var kinds: Set<String> {
    [
      "created", "renamed", "topicSet", "joined", "left", "removed", "said", "edited", "deleted",
      "read",
    ]
  }

  /// The room that it is about.
  package var room: Int {
    switch self {
    case .created(let id, _, _, _), .renamed(let id, _, _), .topicSet(let id, _, _),
      .joined(let id, _), .left(let id, _), .removed(let id, _):
      id
    case .said(let room, _, _, _), .edited(let room, _, _), .deleted(let room, _, _),
      .read(let room, _, _):
      room
    }
  }

  /// The stream that it belongs to.
  var stream: String {
    switch self {
    case .created, .renamed, .topicSet, .joined, .left, .removed: "chat/rooms/\(room)"
    case .said, .edited, .deleted: "chat/rooms/\(room)/messages"
    case .read(_, _, let name): "chat/read/\(name)"
    }
  }
}
