/// The events of chat.
///
/// The stream is `chat/rooms/ID` for a room, `chat/rooms/ID/messages` for its messages, and
/// `chat/read/NAME` for a user's read marks.
package enum ChatEvent: Codable, Equatable, Sendable {
  /// A room was created; its creator is its first member.
  case created(id: Int, name: String, topic: String, by: String)
  case renamed(id: Int, name: String, by: String)
  case topicSet(id: Int, topic: String, by: String)
  case joined(id: Int, name: String)
  case left(id: Int, name: String)

  /// A room was removed with its messages; `by` is `nil` if the caller had no user name.
  case removed(id: Int, by: String?)

  /// A message was sent; its id is the next one in its room.
  case said(room: Int, id: Int, by: String, text: String)
  case edited(room: Int, id: Int, text: String)
  case messageRemoved(room: Int, id: Int, by: String)

  /// A user has read a room up to a message.
  case read(room: Int, upTo: Int, by: String)

  /// The words of the event types in the journal and on the wire.
  private enum CodingKeys: String, CodingKey {
    case created, renamed
    case topicSet = "topic_set"
    case joined, left, removed, said, edited
    case messageRemoved = "message_removed"
    case read
  }

  private enum ReadCodingKeys: String, CodingKey {
    case room
    case upTo = "up_to"
    case by
  }

  /// The id of the event's room.
  package var room: Int {
    switch self {
    case .created(let id, _, _, _), .renamed(let id, _, _), .topicSet(let id, _, _),
      .joined(let id, _), .left(let id, _), .removed(let id, _):
      id
    case .said(let room, _, _, _), .edited(let room, _, _), .messageRemoved(let room, _, _),
      .read(let room, _, _):
      room
    }
  }

  /// The stream that records the event.
  var stream: String {
    switch self {
    case .created, .renamed, .topicSet, .joined, .left, .removed: "chat/rooms/\(room)"
    case .said, .edited, .messageRemoved: "chat/rooms/\(room)/messages"
    case .read(_, _, let name): "chat/read/\(name)"
    }
  }
}
