package import Binder
package import Signals

/// Rooms and their messages.
///
/// All events are journaled, and every room is open to every user of the service.
///
/// To follow a room, read ``Chat/messages(in:)`` of `ledger.committed` and then observe
/// ``events(in:)``.
package final class ChatService {
  package static let maxRooms = 1000

  /// The maximum number of rooms that one user may create.
  package static let maxOwnRooms = 50
  package static let maxName = 48
  package static let maxTopic = 200
  package static let maxText = 4000

  /// The maximum number of messages in a page of the history.
  package static let maxPage = 200

  package let ledger: Ledger<Chat>

  /// Read positions ahead of the journal; see ``ReadMarks``.
  private(set) var seen: [ReadMark: Int] = [:]

  /// Emits the id of a room whose name, topic or membership changes.
  let changedRooms = PassthroughSubject<Int, Never>()

  /// Emits the id of a room whose unread count changes for a user, keyed by user name.
  let roomsToRead = KeyedSubject<String, Int>()
  private let observation = SerialDisposable(otherDisposable: nil)

  package init(in host: Host) {
    ledger = Ledger("chat", in: host)
    observation.otherDisposable = ledger.events.observeNext { [unowned self] event, _ in
      tell(event)
    }
  }

  /// Emits the events of a room from now on, once they are durable.
  package func events(in room: Int) -> Signal<(event: ChatEvent, time: Int64), Never> {
    ledger.events(in: "chat/rooms/\(room)")
      .merge(with: ledger.events(in: "chat/rooms/\(room)/messages"))
      .map { ($0.event, $0.context.time) }
  }

  /// Sends an event to the subjects that it concerns.
  private func tell(_ event: ChatEvent) {
    switch event {
    case .created, .renamed, .topicSet, .joined, .left, .removed: changedRooms.send(event.room)
    case .said, .messageRemoved: tellMembers(of: event.room)
    case .read(let room, _, let name): roomsToRead.send(room, to: name)
    case .edited: break
    }
  }

  private func tellMembers(of room: Int) {
    let (names, members) = (roomsToRead.keys, ledger.committed.members(of: room))
    if names.count < members.count {
      for name in names where ledger.committed.isMember(name, of: room) {
        roomsToRead.send(room, to: name)
      }
    } else if !names.isEmpty {
      for name in members { roomsToRead.send(room, to: name) }
    }
  }

  /// Stores a user's read position; `nil` falls back to the position in the journal.
  func setSeen(seen id: Int?, _ mark: ReadMark) {
    seen[mark] = id
    roomsToRead.send(mark.room, to: mark.name)
  }

  // MARK: Rooms

  /// Returns a room from the pending state, which includes events that are not durable yet.
  package func room(_ key: RoomKey) throws(ChatError) -> Room {
    guard let room = Self.find(key, in: ledger.pending) else { throw .unknownRoom(key.text) }
    return room
  }

  /// Returns a room from the durable state.
  package func shownRoom(_ key: RoomKey) throws(ChatError) -> Room {
    guard let room = Self.find(key, in: ledger.committed) else { throw .unknownRoom(key.text) }
    return room
  }

  private static func find(_ key: RoomKey, in chat: Chat) -> Room? {
    if let id = Int(key.text) { return chat.rooms[id] }
    let name = key.text.lowercased()
    // Names that differ only in case look the same.
    return chat.rooms(lookingLike: name).first { $0.name.lowercased() == name }
  }

  /// Creates a room; its creator joins it.
  ///
  /// - Returns: The id of the room.
  package func create(
    _ name: String, topic: String, by user: String
  ) throws(ChatError) -> Int {
    try check(name: name)
    try check(topic, "topic", max: Self.maxTopic)
    guard ledger.pending.rooms.count < Self.maxRooms else {
      throw .tooManyRooms(max: Self.maxRooms)
    }
    guard ledger.pending.rooms.rows.count(where: { $0.creator == user }) < Self.maxOwnRooms else {
      throw .tooManyOwnRooms(max: Self.maxOwnRooms)
    }
    guard ledger.pending.lastRoom < .max else { throw .noNumberLeft }
    let id = ledger.pending.lastRoom + 1
    record(.created(id: id, name: name, topic: topic, by: user))
    return id
  }

  /// Joins a room; earlier messages count as read.
  ///
  /// - Returns: Whether the user had not joined before.
  package func join(_ key: RoomKey, by user: String) throws(ChatError) -> Bool {
    let room = try room(key)
    guard !ledger.pending.isMember(user, of: room.id) else { return false }
    record(.joined(id: room.id, name: user))
    return true
  }

  /// Leaves a room.
  ///
  /// - Returns: Whether the user was a member.
  package func leave(_ key: RoomKey, by user: String) throws(ChatError) -> Bool {
    let room = try room(key)
    guard ledger.pending.isMember(user, of: room.id) else { return false }
    record(.left(id: room.id, name: user))
    return true
  }

  /// Removes a room with its messages; only its creator may, unless `isAnyAllowed`.
  ///
  /// - Parameters:
  ///   - user: The name of the caller; `nil` if the caller has none.
  ///   - isAnyAllowed: Whether the caller may remove any room.
  /// - Returns: The number of messages that the room has had.
  package func remove(
    _ key: RoomKey, by user: String?, isAnyAllowed: Bool = false
  ) throws(ChatError) -> Int {
    let room = try room(key)
    guard isAnyAllowed || room.creator == user else { throw .notCreator(room: room.name) }
    let count = ledger.pending.count(in: room.id)
    record(.removed(id: room.id, by: user))
    return count
  }

  /// Renames a room; only members may.
  package func rename(_ key: RoomKey, to name: String, by user: String) throws(ChatError) {
    let room = try joined(key, user)
    guard name != room.name else { return }
    try check(name: name, of: room.id)
    record(.renamed(id: room.id, name: name, by: user))
  }

  /// Sets the topic of a room; only members may.
  package func setTopic(
    of key: RoomKey, to topic: String, by user: String
  ) throws(ChatError) {
    let room = try joined(key, user)
    try check(topic, "topic", max: Self.maxTopic)
    if topic != room.topic { record(.topicSet(id: room.id, topic: topic, by: user)) }
  }

  // MARK: Messages

  /// Sends a message to a room.
  ///
  /// - Returns: The id of the message.
  package func send(
    _ text: String, to key: RoomKey, by user: String
  ) throws(ChatError) -> Int {
    let room = try joined(key, user)
    try check(text: text)
    let id = ledger.pending.count(in: room.id) + 1
    record(.said(room: room.id, id: id, by: user, text: text))
    return id
  }

  /// Changes the text of a message; only its author may.
  package func edit(
    _ id: Int, in key: RoomKey, to text: String, by user: String
  ) throws(ChatError) {
    let (room, message) = try own(id, in: key, user)
    try check(text: text)
    if text != message.text { record(.edited(room: room.id, id: id, text: text)) }
  }

  /// Removes a message; its author and the room's creator may.
  package func removeMessage(_ id: Int, in key: RoomKey, by user: String) throws(ChatError) {
    let (room, _) = try own(id, in: key, user, orCreator: true)
    record(.messageRemoved(room: room.id, id: id, by: user))
  }

  /// Marks a room as read, up to a message or to its end.
  ///
  /// - Returns: The number of messages that are still unread.
  @discardableResult
  package func read(
    _ key: RoomKey, upTo id: Int? = nil, by user: String
  ) throws(ChatError) -> Int {
    let room = try joined(key, user)
    let count = ledger.pending.count(in: room.id)
    let id = min(id ?? count, count)
    if let read = ledger.pending.read(by: user, in: room.id), read < id {
      record(.read(room: room.id, upTo: id, by: user))
    }
    return ledger.pending.unread(by: user, in: room.id)
  }

  /// Returns the durable messages before one, oldest first.
  package func history(
    of key: RoomKey, before: Int?, limit: Int?
  ) throws(ChatError) -> ArraySlice<Message> {
    let limit = limit ?? Chat.pageCount
    guard 1...Self.maxPage ~= limit else { throw .badLimit(max: Self.maxPage) }
    return ledger.committed.page(of: try shownRoom(key).id, before: before, limit: limit)
  }

  /// Returns the number of messages of others that a user has neither read nor seen in a room.
  package func unread(by name: String, in room: Int) -> Int {
    let seen = seen[ReadMark(room: room, name: name)]
    return ledger.committed.unread(by: name, in: room, behind: seen ?? 0)
  }

  // MARK: Rules

  private func joined(_ key: RoomKey, _ user: String) throws(ChatError) -> Room {
    let room = try room(key)
    guard ledger.pending.isMember(user, of: room.id) else { throw .notMember(room: room.name) }
    return room
  }

  private func own(
    _ id: Int, in key: RoomKey, _ user: String, orCreator: Bool = false
  ) throws(ChatError) -> (Room, Message) {
    let room = try room(key)
    guard let message = ledger.pending.message(id, in: room.id) else {
      throw .unknownMessage(id: id, room: room.id)
    }
    guard message.author == user || orCreator && room.creator == user else {
      throw .notAuthor(id: id)
    }
    guard !message.isRemoved else { throw .isRemoved(id: id) }
    return (room, message)
  }

  private func check(name: String, of id: Int? = nil) throws(ChatError) {
    guard !name.isEmpty else { throw .empty(parameter: "name") }
    try check(name, "name", max: Self.maxName)
    // So that a name cannot be mistaken for a number.
    guard name.first?.isLetter == true, name.last?.isWhitespace == false else { throw .badName }
    if let hidden = name.hiddenCharacter { throw .hidden(hidden) }
    if let room = ledger.pending.rooms(lookingLike: name).first(where: { $0.id != id }) {
      throw .nameTaken(room.name)
    }
  }

  private func check(text: String) throws(ChatError) {
    guard !text.isEmpty else { throw .empty(parameter: "text") }
    try check(text, "text", max: Self.maxText)
  }

  private func check(_ text: String, _ parameter: String, max: Int) throws(ChatError) {
    guard text.utf8.count <= max else { throw .tooLong(parameter: parameter, max: max) }
    guard !text.hasControlCharacters else { throw .badText(parameter: parameter) }
  }

  private func record(_ event: ChatEvent) { ledger.record(event, in: event.stream) }
}
