package import JSON

/// A chat room.
package struct Room: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var topic: String

  /// The name of the user who created the room.
  package let creator: String

  init(id: Int, name: String, topic: String, creator: String) {
    (self.id, self.name, self.topic, self.creator) = (id, name, topic, creator)
  }
}

/// A message in a room.
package struct Message: Codable, Equatable, Sendable {
  /// The position in the room, from 1.
  package let id: Int
  package let author: String

  /// The text; empty if the message was removed.
  package var text: String

  /// The time of sending, in microseconds since 1970.
  package let time: Int64
  package var isEdited = false
  package var isRemoved = false

  init(id: Int, author: String, text: String, time: Int64) {
    (self.id, self.author, self.text, self.time) = (id, author, text, time)
  }

  private enum CodingKeys: String, CodingKey {
    case id, author, text, time
    case isEdited = "edited"
    case isRemoved = "removed"
  }
}

/// A reference to a room: its id or its name.
package struct RoomKey: Decodable, Sendable, Shaped {
  package static var shape: Shape { .either([.integer, .string]) }

  package let text: String

  package init(_ text: String) {
    self.text = text
  }

  package init(_ id: Int) {
    text = String(id)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let name = try? container.decode(String.self) {
      text = name
    } else {
      text = String(try container.decode(Int.self))
    }
  }
}
