package import Signals

/// What is said in one room, for one user.
///
/// It is made when a view asks for it (``UserSession/messages(in:)``), shared while it is used, and
/// gone with the last view that uses it. What a view shows of it is a ``MessageWindow`` of its own.
package final class MessagesService {
  package let room: Int
  package let name: String
  let chat: ChatService
  let host: ServiceHost
  private let presence: PresenceService
  private let marks: ReadMarks
  private let standing: Standing
  private let reading: () -> Command?

  /// - Parameter reading: As which command it is noted what the user has read; `nil` when they have
  ///   left.
  init(
    of room: Int, _ name: String, _ chat: ChatService, _ presence: PresenceService,
    _ host: ServiceHost, _ marks: ReadMarks, _ standing: Standing,
    reading: @escaping () -> Command?
  ) {
    self.presence = presence
    (self.room, self.name, self.chat, self.host) = (room, name, chat, host)
    (self.marks, self.standing, self.reading) = (marks, standing, reading)
  }

  // MARK: What there is to see

  /// The messages that a view shows: the last ones, or those around one.
  ///
  /// As long as it is there and shows the end, the user reads what is said.
  package func window(at message: Int? = nil) -> MessageWindow {
    MessageWindow(of: self, at: message)
  }

  /// The room, now and after each change of it; what is said in it is none.
  package var info: Signal<Room, Never> {
    Signal { [self] observer in
      if let room = roomNow { observer.receive(room) }
      return changes.observeNext { [self] in if let room = roomNow { observer.receive(room) } }
    }
  }

  private var changes: SafeSignal<Void> {
    chat.ledger.events(in: "chat/rooms/\(room)").map { _ in () }
  }

  /// Somebody who has joined the room.
  package struct Member {
    package let name: String
    package let isHere: Bool
  }

  /// Who has joined the room and who of them is here, by name: for views.
  package var members: Computed<[Member]> {
    let comings = presence.comings.filter { [chat, room] name in
      chat.ledger.shown.room(room)?.members[name] != nil
    }
    return Computed(
      Identity(chat, "members", room), changes: comings.map { _ in () }.merge(with: changes)
    ) { [chat, presence, room] in
      (chat.ledger.shown.room(room)?.members.keys.sorted() ?? [])
        .map { Member(name: $0, isHere: presence.isHere($0)) }
    }
  }

  /// The room as it is known now.
  package var roomNow: Room? { chat.ledger.shown.room(room) }

  /// Tells when the room is removed, durably.
  package var removal: Signal<Void, Never> {
    chat.ledger.events(in: "chat/rooms/\(room)")
      .compactMap { if case .removed = $0.event { () } else { nil } }
  }

  /// The user sees the end of the room.
  func see() {
    if standing.isGood(), let command = reading() { marks.see(room, by: name, as: command) }
  }

  // MARK: What can be done

  /// Says something; returns the number of the message.
  package func send(_ text: String) throws(ChatError) -> Int {
    try standing.checkInRoom()
    return try chat.send(text, to: RoomKey(room), by: name)
  }

  /// Changes what the user has said.
  package func edit(_ id: Int, to text: String) throws(ChatError) {
    try standing.checkInRoom()
    try chat.edit(id, in: RoomKey(room), to: text, by: name)
  }

  /// Takes back what was said.
  package func delete(_ id: Int) throws(ChatError) {
    try standing.checkInRoom()
    try chat.delete(id, in: RoomKey(room), by: name)
  }

  /// Names the room, and says what it is about; what is not given stays.
  package func describe(name: String?, topic: String?) throws(ChatError) {
    try standing.checkInRoom()
    if let name { try chat.rename(RoomKey(room), to: name, by: self.name) }
    if let topic { try chat.setTopic(of: RoomKey(room), to: topic, by: self.name) }
  }

  /// Removes the room, which the user has made.
  package func remove() throws(ChatError) -> Int {
    try standing.checkInRoom()
    return try chat.remove(RoomKey(room), by: name)
  }

  /// Joins the room; what was said before counts as read.
  ///
  /// - Returns: Whether the user had not joined before.
  package func join() throws(ChatError) -> Bool {
    try standing.checkInRoom()
    return try chat.join(RoomKey(room), by: name)
  }

  /// Leaves the room.
  package func leave() throws(ChatError) {
    try standing.checkInRoom()
    _ = try chat.leave(RoomKey(room), by: name)
  }
}
