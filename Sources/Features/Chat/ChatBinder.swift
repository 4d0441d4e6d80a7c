internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Signals

/// The chat sources that summarize others.
///
/// A role that may not read all of the others may not read the summary.
package let chatSummaries = ["chat/rooms": "chat/rooms/*"]

/// Offers the chat rooms and their messages to clients.
package func bindChat(_ interface: Interface, to chat: ChatService) {
  interface.offer(
    "chat",
    "Rooms and their messages. Log in with users.login, or give one of your names in 'as'.",
    events: [
      "chat.created", "chat.renamed", "chat.topicSet", "chat.joined", "chat.left", "chat.said",
      "chat.edited", "chat.deleted", "chat.read", "chat.removed",
    ])
  interface.offerSources(
    of: chat.ledger,
    [
      .init("chat/rooms", "All rooms, with their numbers of members and messages.", .array(.any)),
      .init("chat/rooms/*", "A room and its members.", .any),
      .init(
        "chat/rooms/*/messages", "The last messages of a room, oldest first, 50 at most.",
        .array(.any)),
    ],
    exists: ChatService.isSource)
  bindRooms(interface, to: chat)
  bindMessages(interface, to: chat)
  bindReading(interface, to: chat)
  interface.offerView("chat", "Rooms and people: log in, browse and chat.") { view, session in
    bindChat(view, session)
  }
  interface.offerView("room", "One room: read it, and join to write.", EnterRoom.self) {
    view, session, enter in
    let user = try session.userSession(as: enter.as)
    bindRoom(view, user, try chat.shownRoom(enter.room).id)
    view.isFor(user, in: session)
  }
}

private func bindRooms(_ interface: Interface, to chat: ChatService) {
  let errors = asErrors
  interface.command(
    "chat.create",
    "Creates a room and joins it; returns its number. There are at most \(ChatService.maxRooms), "
      + "\(ChatService.maxOwnRooms) of one user.", CreateRoom.self,
    writes: ["chat.created"], errors: errors + ["too_many"]
  ) { session, room throws(ChatError) in
    try chat.create(room.name, topic: room.topic ?? "", by: session.chatter(room.as))
  }
  let isAnyAllowed = interface.role == .owner
  interface.command(
    "chat.remove",
    "Removes a room of yours and its messages; the owner of the daemon can remove any. Returns "
      + "how many messages it had.",
    InRoom.self, writes: ["chat.removed"], errors: errors + ["not_creator"]
  ) { [unowned interface] session, room throws(ChatError) in
    let user =
      isAnyAllowed && room.as == nil
      ? session.name : try interface.chatter(in: room, session, chat)
    return try chat.remove(room.room, by: user, isAnyAllowed: isAnyAllowed)
  }
  interface.command(
    "chat.join", "Joins a room; returns whether you were not a member.", InRoom.self,
    writes: ["chat.joined"], errors: errors
  ) { [unowned interface] session, room throws(ChatError) in
    try chat.join(room.room, by: interface.chatter(in: room, session, chat))
  }
  interface.command(
    "chat.leave", "Leaves a room; returns whether you were a member.", InRoom.self,
    writes: ["chat.left"], errors: errors
  ) { [unowned interface] session, room throws(ChatError) in
    try chat.leave(room.room, by: interface.chatter(in: room, session, chat))
  }
  interface.command(
    "chat.rename", "Renames a room that you have joined.", RenameRoom.self,
    writes: ["chat.renamed"], errors: errors + ["not_member"]
  ) { [unowned interface] session, room throws(ChatError) in
    try chat.rename(room.room, to: room.name, by: interface.chatter(in: room, session, chat))
    return Nothing()
  }
  interface.command(
    "chat.topic", "Sets the topic of a room that you have joined.", SetTopic.self,
    writes: ["chat.topicSet"], errors: errors + ["not_member"]
  ) { [unowned interface] session, room throws(ChatError) in
    try chat.setTopic(of: room.room, to: room.topic, by: interface.chatter(in: room, session, chat))
    return Nothing()
  }
}

private func bindMessages(_ interface: Interface, to chat: ChatService) {
  let errors = asErrors
  interface.command(
    "chat.send", "Sends a message to a room that you have joined; returns its number.",
    SendMessage.self, writes: ["chat.said"], errors: errors + ["not_member"]
  ) { [unowned interface] session, message throws(ChatError) in
    try chat.send(message.text, to: message.room, by: interface.chatter(in: message, session, chat))
  }
  interface.command(
    "chat.edit", "Changes a message of yours.", EditMessage.self, writes: ["chat.edited"],
    errors: errors + ["not_author", "deleted"]
  ) { [unowned interface] session, message throws(ChatError) in
    try chat.edit(
      message.id, in: message.room, to: message.text,
      by: interface.chatter(in: message, session, chat))
    return Nothing()
  }
  interface.command(
    "chat.delete", "Deletes a message of yours, or any in a room that you created.",
    NamedMessage.self, writes: ["chat.deleted"], errors: errors + ["not_author", "deleted"]
  ) { [unowned interface] session, message throws(ChatError) in
    try chat.delete(message.id, in: message.room, by: interface.chatter(in: message, session, chat))
    return Nothing()
  }
}

private func bindReading(_ interface: Interface, to chat: ChatService) {
  interface.command(
    "chat.read", "Marks a room as read; returns how many messages are unread.",
    ReadRoom.self, writes: ["chat.read"], errors: asErrors + ["not_member"]
  ) { [unowned interface] session, room throws(ChatError) in
    try chat.read(room.room, upTo: room.upTo, by: interface.chatter(in: room, session, chat))
  }
  interface.query(
    "chat.history",
    "A page of a room's messages, oldest first: the last ones, or those before one.",
    ReadHistory.self, .value([Message].self)
  ) { interface, call, page in
    do {
      let room = try chat.shownRoom(page.room)
      try interface.checkMayKnow(room, as: page.room)
      try interface.checkReadable(["chat/rooms/\(room.id)/messages"])
      let messages = try chat.history(of: page.room, before: page.before, limit: page.limit)
      interface.answer(call, with: Array(messages))
    } catch {
      call.refuse(interface.error(error))
    }
  }
  interface.query(
    "chat.unread", "The number of unread messages in each room that you have joined.",
    OfUser.self, .value([UnreadRoom].self)
  ) { interface, call, who in
    do throws(ChatError) {
      let name = try interface.session(of: call.connection).chatter(who.as)
      let state = chat.ledger.shown
      let rooms = state.allRooms.filter {
        $0.members[name] != nil && interface.role.mayRead("chat/rooms/\($0.id)/messages")
      }
      interface.answer(
        call,
        with: rooms.map {
          UnreadRoom(id: $0.id, name: $0.name, unread: chat.unread(by: name, in: $0.id))
        })
    } catch {
      call.refuse(interface.error(error))
    }
  }
}

extension Session {
  /// Returns the name of the user who acts.
  fileprivate func chatter(_ name: String?) throws(ChatError) -> String {
    do throws(UsersError) {
      return try actor(as: name)
    } catch {
      throw .user(error)
    }
  }
}

extension Interface {
  /// Returns the name of the user who acts, and checks that the role may know the room.
  fileprivate func chatter(
    in parameters: some RoomParameters, _ session: Session, _ chat: ChatService
  ) throws(ChatError) -> String {
    let user = try session.chatter(parameters.as)
    // The service looks the room up again, so only restricted roles pay for this check.
    if !role.read.allowsAll {
      try checkMayKnow(try chat.room(parameters.room), as: parameters.room)
    }
    return user
  }

  /// Checks that the role may know a room.
  ///
  /// - Throws: ``ChatError/unknownRoom(_:)`` with the key of the request, so that a client who gave
  ///   the name does not learn the number.
  fileprivate func checkMayKnow(_ room: Room, as key: RoomKey) throws(ChatError) {
    let source = "chat/rooms/\(room.id)"
    guard !mayKnow(source), !mayKnow(source + "/messages") else { return }
    noteRefusal("to know \(source)")
    throw .unknownRoom(key.text)
  }
}

/// Parameters of a method that acts in a room on behalf of a user.
private protocol RoomParameters {
  var room: RoomKey { get }
  var `as`: String? { get }
}

private let roomDoc = "The room: its number, or its name."

private struct CreateRoom: DocumentedParameters, SourceParameters {
  let name: String
  let topic: String?
  let `as`: String?
  var source: String { "chat/rooms/*" }

  static let docs = [
    "name": "48 bytes at most, a letter first.", "topic": "200 bytes at most.", "as": asDoc,
  ]
}

private struct InRoom: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let `as`: String?

  static let docs = ["room": roomDoc, "as": asDoc]
}

private struct EnterRoom: Decodable {
  let room: RoomKey
  let `as`: String?
}

private struct RenameRoom: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let name: String
  let `as`: String?

  static let docs = ["room": roomDoc, "name": "The new name.", "as": asDoc]
}

private struct SetTopic: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let topic: String
  let `as`: String?

  static let docs = ["room": roomDoc, "topic": "200 bytes at most.", "as": asDoc]
}

private struct SendMessage: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let text: String
  let `as`: String?

  static let docs = ["room": roomDoc, "text": "4000 bytes at most.", "as": asDoc]
}

private struct EditMessage: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let id: Int
  let text: String
  let `as`: String?

  static let docs = [
    "room": roomDoc, "id": "The number of the message.", "text": "4000 bytes at most.",
    "as": asDoc,
  ]
}

private struct NamedMessage: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let id: Int
  let `as`: String?

  static let docs = ["room": roomDoc, "id": "The number of the message.", "as": asDoc]
}

private struct ReadRoom: DocumentedParameters, RoomParameters {
  let room: RoomKey
  let upTo: Int?
  let `as`: String?

  static let docs = [
    "room": roomDoc, "upTo": "The number of the last message read; left out: all.", "as": asDoc,
  ]
}

private struct ReadHistory: DocumentedParameters {
  let room: RoomKey
  let before: Int?
  let limit: Int?

  static let docs = [
    "room": roomDoc, "before": "The number of a message; left out: the end of the room.",
    "limit": "1 to 200, 50 when left out; fewer if they are long.",
  ]
}

private struct OfUser: DocumentedParameters {
  let `as`: String?

  static let docs = ["as": asDoc]
}

private struct UnreadRoom: Codable {
  let id: Int
  let name: String
  let unread: Int
}
