package import JSON

/// A place to talk.
package struct Room: Codable, Equatable, Sendable {
  package let id: Int
  package internal(set) var name: String
  package internal(set) var topic: String

  /// The name of who has made it.
  package let creator: String

  /// The names of those who have joined, and how far each of them has read: the number of a message.
  package internal(set) var members: [String: Int] = [:]

  /// How many messages it has had.
  package internal(set) var count = 0

  init(id: Int, name: String, topic: String, creator: String) {
    (self.id, self.name, self.topic, self.creator) = (id, name, topic, creator)
  }
}

/// What somebody has said in a room.
package struct Message: Codable, Equatable, Sendable {
  /// Its number in its room, from 1 on.
  package let id: Int
  package let author: String

  /// Empty when it is deleted.
  package internal(set) var text: String

  /// When it was said, in microseconds since 1970.
  package let time: Int64
  package internal(set) var isEdited = false
  package internal(set) var isDeleted = false

  init(id: Int, author: String, text: String, time: Int64) {
    (self.id, self.author, self.text, self.time) = (id, author, text, time)
  }

  private enum CodingKeys: String, CodingKey {
    case id, author, text, time
    case isEdited = "edited"
    case isDeleted = "deleted"
  }
}

/// How a caller names a room: by its number, or by its name.
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
