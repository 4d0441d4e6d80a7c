internal import Binder
package import Signals

/// The messages of one room, for one user.
///
/// It is created when a view asks for it (``LoggedInUser/messages(in:)``), shared by views, and
/// released with the last one. Each view has a separate ``MessageWindow``.
package final class MessagesService {
  package let room: Int
  package let name: String
  let chat: ChatService
  let host: Host
  private let presence: PresenceService
  private let marks: ReadMarks
  private let loginCheck: LoginCheck
  private let reading: () -> Caller?

  /// - Parameter reading: Returns the client that reads; `nil` after it has disconnected.
  init(
    of room: Int, _ name: String, _ chat: ChatService, _ presence: PresenceService,
    _ host: Host, _ marks: ReadMarks, _ loginCheck: LoginCheck,
    reading: @escaping () -> Caller?
  ) {
    self.presence = presence
    (self.room, self.name, self.chat, self.host) = (room, name, chat, host)
    (self.marks, self.loginCheck, self.reading) = (marks, loginCheck, reading)
  }

  // MARK: Content

  /// Returns a window over the messages: the last ones, or those around one.
  ///
  /// While the window exists and shows the end of the room, new messages count as read.
  package func window(at message: Int? = nil) -> MessageWindow {
    MessageWindow(of: self, at: message)
  }

  /// The room, now and after each change of it or its members; messages do not count as changes.
  package var info: Signal<Room, Never> {
    Signal { [self] observer in
      if let room = roomNow { observer.receive(room) }
      return changes.observeNext { [self] in if let room = roomNow { observer.receive(room) } }
    }
  }

  private var changes: SafeSignal<Void> {
    chat.ledger.events(in: "chat/rooms/\(room)").map { _ in () }
  }

  /// A member of the room.
  package struct Member {
    package let name: String
    package let isHere: Bool
  }

  /// The members of the room by name, and whether each is present; for views.
  package var members: Computed<[Member]> {
    let comings = presence.comings.filter { [chat, room] name in
      chat.ledger.committed.isMember(name, of: room)
    }
    return Computed(
      Identity(chat, "members", room), changes: comings.map { _ in () }.merge(with: changes)
    ) { [chat, presence, room] in
      chat.ledger.committed.members(of: room)
        .map { Member(name: $0, isHere: presence.isHere($0)) }
    }
  }

  /// Whether the user has joined the room, in the durable state.
  var isJoined: Bool { chat.ledger.committed.isMember(name, of: room) }

  /// The durable state of the room; `nil` if it was removed.
  package var roomNow: Room? { chat.ledger.committed.room(room) }

  /// Emits when the removal of the room is durable.
  package var removal: Signal<Void, Never> {
    chat.ledger.events(in: "chat/rooms/\(room)")
      .compactMap { if case .removed = $0.event { () } else { nil } }
  }

  /// Marks the room as read to its end, if the user is still logged in.
  func see() {
    if loginCheck.isGood(), let caller = reading() { marks.see(room, by: name, as: caller) }
  }

  // MARK: Actions

  /// Sends a message and returns its id.
  package func send(_ text: String) throws(ChatError) -> Int {
    try loginCheck.checkInRoom()
    return try chat.send(text, to: RoomKey(room), by: name)
  }

  /// Changes the text of one of the user's messages.
  package func edit(_ id: Int, to text: String) throws(ChatError) {
    try loginCheck.checkInRoom()
    try chat.edit(id, in: RoomKey(room), to: text, by: name)
  }

  /// Removes a message.
  package func removeMessage(_ id: Int) throws(ChatError) {
    try loginCheck.checkInRoom()
    try chat.removeMessage(id, in: RoomKey(room), by: name)
  }

  /// Sets the name and the topic of the room; `nil` leaves one unchanged.
  package func describe(name: String?, topic: String?) throws(ChatError) {
    try loginCheck.checkInRoom()
    if let name { try chat.rename(RoomKey(room), to: name, by: self.name) }
    if let topic { try chat.setTopic(of: RoomKey(room), to: topic, by: self.name) }
  }

  /// Removes the room and returns the number of messages it has had; only its creator may.
  package func remove() throws(ChatError) -> Int {
    try loginCheck.checkInRoom()
    return try chat.remove(RoomKey(room), by: name)
  }

  /// Joins the room; earlier messages count as read.
  ///
  /// - Returns: Whether the user had not joined before.
  package func join() throws(ChatError) -> Bool {
    try loginCheck.checkInRoom()
    return try chat.join(RoomKey(room), by: name)
  }

  /// Leaves the room.
  package func leave() throws(ChatError) {
    try loginCheck.checkInRoom()
    _ = try chat.leave(RoomKey(room), by: name)
  }
}
