package import Signals

/// The rooms as one user sees them who is logged in.
package final class RoomsService {
  package let name: String
  private let chat: ChatService
  private let standing: Standing

  init(of name: String, _ chat: ChatService, _ standing: Standing) {
    (self.name, self.chat, self.standing) = (name, chat, standing)
  }

  /// A room, and what of it waits for the user.
  package struct Entry: Equatable {
    package let room: Room
    package let unread: Int
    package let isJoined: Bool
  }

  /// The rooms as they are now.
  package var now: [Entry] { Self.entries(chat, name) }

  /// The rooms, now and after each change.
  package var all: Signal<[Entry], Never> {
    chat.ledger.shown.toSignal().combineLatest(with: chat.seen) { _, _ in }
      .map { [chat, name] in Self.entries(chat, name) }.removeDuplicates()
  }

  private static func entries(_ chat: ChatService, _ name: String) -> [Entry] {
    chat.ledger.shown.value.allRooms.map { room in
      Entry(
        room: room, unread: chat.unread(by: name, in: room.id),
        isJoined: room.members[name] != nil)
    }
  }

  /// Makes a room and returns its number.
  package func create(_ name: String, topic: String) throws(ChatError) -> Int {
    try standing.checkInRoom()
    return try chat.create(name, topic: topic, by: self.name)
  }

  /// Joins a room, if that was not done before, and reads what is there.
  package func enter(_ id: Int) throws(ChatError) {
    try standing.checkInRoom()
    _ = try chat.join(RoomKey(id), by: name)
    try chat.read(RoomKey(id), by: name)
  }

  /// Leaves a room.
  package func leave(_ id: Int) throws(ChatError) -> Bool {
    try standing.checkInRoom()
    return try chat.leave(RoomKey(id), by: name)
  }
}
