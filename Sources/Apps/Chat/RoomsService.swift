internal import Binder
package import Signals

/// The rooms for one user who is logged in.
package final class RoomsService {
  package let name: String
  private let chat: ChatService
  private let loginCheck: LoginCheck

  init(of name: String, _ chat: ChatService, _ loginCheck: LoginCheck) {
    (self.name, self.chat, self.loginCheck) = (name, chat, loginCheck)
  }

  /// A room with the user's unread count.
  package struct Entry: Equatable {
    package let room: Room
    let members: Int
    package let unread: Int
    package let isJoined: Bool
  }

  /// The rooms with their current unread counts, ordered by id.
  package var now: [Entry] {
    chat.ledger.committed.rooms.keys.sorted().compactMap { Self.entry($0, chat, name) }
  }

  /// The rooms by id; for views.
  package var all: RowList<Int, Entry> { Self.rooms(for: name, in: chat) }

  /// Returns the rooms by id with the unread counts of a user.
  static func rooms(for name: String, in chat: ChatService) -> RowList<Int, Entry> {
    RowList(
      Identity(chat, "rooms", name), keys: { Array(chat.ledger.committed.rooms.keys) },
      row: { entry($0, chat, name) },
      changes: chat.changedRooms.merge(with: chat.roomsToRead.elements(of: name))
        .map { .rows([$0]) })
  }

  /// Returns the rooms that a user has joined, by id.
  static func joined(by name: String, in chat: ChatService) -> RowList<Int, Entry> {
    let rooms = rooms(for: name, in: chat)
    return RowList(
      Identity(chat, "joined", name), keys: rooms.keys,
      row: { rooms.row($0).flatMap { $0.isJoined ? $0 : nil } }, changes: rooms.changes)
  }

  private static func entry(_ id: Int, _ chat: ChatService, _ name: String) -> Entry? {
    let state = chat.ledger.committed
    return state.room(id).map { room in
      Entry(
        room: room, members: state.members(of: id).count, unread: chat.unread(by: name, in: id),
        isJoined: state.isMember(name, of: id))
    }
  }

  /// Creates a room and returns its id.
  package func create(_ name: String, topic: String) throws(ChatError) -> Int {
    try loginCheck.checkInRoom()
    return try chat.create(name, topic: topic, by: self.name)
  }

  /// Joins a room if necessary, and marks it as read.
  package func enter(_ id: Int) throws(ChatError) {
    try loginCheck.checkInRoom()
    _ = try chat.join(RoomKey(id), by: name)
    try chat.read(RoomKey(id), by: name)
  }

  /// Leaves a room; returns whether the user was a member.
  package func leave(_ id: Int) throws(ChatError) -> Bool {
    try loginCheck.checkInRoom()
    return try chat.leave(RoomKey(id), by: name)
  }
}
