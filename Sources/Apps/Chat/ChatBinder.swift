package import API
internal import Binder
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
package func bindChat(
  _ catalog: API.Catalog, to chat: ChatService, _ clients: SessionTable
) {
  catalog.offer(
    "Rooms and their messages. Log in with users.log_in, or give one of your names in 'as'.",
    chat.ledger)
  catalog.offerSources(
    of: chat.ledger,
    [
      .init("chat/rooms", "All rooms, with their numbers of members and messages.", .array(.any)),
      .init("chat/rooms/*", "A room and its members.", .any),
      .init(
        "chat/rooms/*/messages", "The last messages of a room, oldest first, 50 at most.",
        .array(.any)),
    ],
    exists: ChatService.isSource)
  bindRooms(catalog, to: chat, clients)
  bindMessages(catalog, to: chat, clients)
  bindReading(catalog, to: chat, clients)
  catalog.offerView("chat", of: "chat", "Rooms and people: log in, browse and chat.") {
    view, context in
    bindChat(Binder.View(view, context), clients[Caller(context)])
  }
  catalog.offerView("room", of: "chat", "One room: read it, and join to write.", EnterRoom.self) {
    view, context, enter in
    let session = clients[Caller(context)]
    let view = Binder.View(view, context)
    let user: LoggedInUser
    do {
      user = try session.userSession(as: enter.as)
    } catch {
      throw ServiceRejection.adapted(error)
    }
    bindRoom(view, user, try chat.shownRoom(enter.room).id)
    view.isFor(user, in: session)
  }
}

extension Feature {
  /// - Parameter stop: Records what is known of the messages that users have read.
  package static func chat(
    _ chat: ChatService, _ clients: SessionTable, stop: @escaping () -> Void
  ) -> Feature {
    let remover = Remover("chat.remove", chat.ledger, depth: 3) { room in
      if let id = Int(room.dropFirst("rooms/".count)) {
        _ = try chat.remove(RoomKey(id), by: nil, isAnyAllowed: true)
      }
    }
    return Feature(removers: [remover], stop: stop) { bindChat($0, to: chat, clients) }
  }
}

private func bindRooms(
  _ catalog: API.Catalog, to chat: ChatService, _ clients: SessionTable
) {
  let errors = asErrors
  catalog.command(
    "chat.create",
    "Creates a room and joins it; returns its number. There are at most \(ChatService.maxRooms), "
      + "\(ChatService.maxOwnRooms) of one user.", CreateRoom.self,
    writes: ["chat.created"], errors: errors + ["too_many"]
  ) { context, room throws(ChatError) in
    let user = try clients[Caller(context)].chatter(room.as)
    return try chat.create(room.name, topic: room.topic ?? "", by: user)
  }
  catalog.command(
    "chat.remove",
    "Removes a room of yours and its messages; the owner of the daemon can remove any. Returns "
      + "how many messages it had.",
    InRoom.self, writes: ["chat.removed"], errors: errors + ["not_creator"]
  ) { context, room throws(ChatError) in
    let isAnyAllowed = context.role == .owner
    let user =
      isAnyAllowed && room.as == nil
      ? clients[Caller(context)].name : try context.chatter(in: room, clients, chat)
    return try chat.remove(room.room, by: user, isAnyAllowed: isAnyAllowed)
  }
  catalog.command(
    "chat.join", "Joins a room; returns whether you were not a member.", InRoom.self,
    writes: ["chat.joined"], errors: errors
  ) { context, room throws(ChatError) in
    try chat.join(room.room, by: context.chatter(in: room, clients, chat))
  }
  catalog.command(
    "chat.leave", "Leaves a room; returns whether you were a member.", InRoom.self,
    writes: ["chat.left"], errors: errors
  ) { context, room throws(ChatError) in
    try chat.leave(room.room, by: context.chatter(in: room, clients, chat))
  }
  catalog.command(
    "chat.rename", "Renames a room that you have joined.", RenameRoom.self,
    writes: ["chat.renamed"], errors: errors + ["not_member"]
  ) { context, room throws(ChatError) in
    try chat.rename(room.room, to: room.name, by: context.chatter(in: room, clients, chat))
    return Nothing()
  }
  catalog.command(
    "chat.topic", "Sets the topic of a room that you have joined.", SetTopic.self,
    writes: ["chat.topic_set"], errors: errors + ["not_member"]
  ) { context, room throws(ChatError) in
    try chat.setTopic(of: room.room, to: room.topic, by: context.chatter(in: room, clients, chat))
    return Nothing()
  }
}

private func bindMessages(
  _ catalog: API.Catalog, to chat: ChatService, _ clients: SessionTable
) {
  let errors = asErrors
  catalog.command(
    "chat.send", "Sends a message to a room that you have joined; returns its number.",
    SendMessage.self, writes: ["chat.said"], errors: errors + ["not_member"]
  ) { context, message throws(ChatError) in
    try chat.send(message.text, to: message.room, by: context.chatter(in: message, clients, chat))
  }
  catalog.command(
    "chat.edit", "Changes a message of yours.", EditMessage.self, writes: ["chat.edited"],
    errors: errors + ["not_author", "removed"]
  ) { context, message throws(ChatError) in
    try chat.edit(
      message.id, in: message.room, to: message.text,
      by: context.chatter(in: message, clients, chat))
    return Nothing()
  }
  catalog.command(
    "chat.remove_message", "Removes a message of yours, or any in a room that you created.",
    NamedMessage.self, writes: ["chat.message_removed"], errors: errors + ["not_author", "removed"]
  ) { context, message throws(ChatError) in
    try chat.removeMessage(
      message.id, in: message.room, by: context.chatter(in: message, clients, chat))
    return Nothing()
  }
}

private func bindReading(
  _ catalog: API.Catalog, to chat: ChatService, _ clients: SessionTable
) {
  catalog.command(
    "chat.read", "Marks a room as read; returns how many messages are unread.",
    ReadRoom.self, writes: ["chat.read"], errors: asErrors + ["not_member"]
  ) { context, room throws(ChatError) in
    try chat.read(room.room, upTo: room.upTo, by: context.chatter(in: room, clients, chat))
  }
  catalog.query(
    "chat.history",
    "A page of a room's messages, oldest first: the last ones, or those before one.",
    ReadHistory.self
  ) { context, _, page in
    let room = try chat.shownRoom(page.room)
    try context.checkMayKnow(room, as: page.room)
    try context.access.checkReadable(["chat/rooms/\(room.id)/messages"])
    return Array(try chat.history(of: page.room, before: page.before, limit: page.limit))
  }
  catalog.listQuery(
    "chat.unread", "The number of unread messages in each room that you have joined.",
    OfUser.self, of: UnreadRoom.self
  ) { context, who in
    let name = try clients[Caller(context)].chatter(who.as)
    return (
      "chat.unread \(name)",
      context.rows(
        RoomsService.rooms(for: name, in: chat),
        where: { context.role.mayRead("chat/rooms/\($0)/messages") }
      ) { id, entry in
        entry.isJoined ? UnreadRoom(id: id, name: entry.room.name, unread: entry.unread) : nil
      }
    )
  }
}

/// The documentation of the parameter `as`.
private let asDoc = "One of your names; left out: the one you are logged in as."

/// The reasons for which a call with the parameter `as` may be rejected.
private let asErrors = ["not_logged_in", "logged_in", "name_taken"]

extension ClientSession {
  /// Returns the name of the user who acts.
  fileprivate func chatter(_ name: String?) throws(ChatError) -> String {
    do throws(UsersError) {
      return try actor(as: name)
    } catch {
      throw .user(error)
    }
  }
}

extension CallContext {
  /// Returns the name of the user who acts, and checks that the role may know the room.
  fileprivate func chatter(
    in parameters: some RoomParameters, _ clients: SessionTable, _ chat: ChatService
  ) throws(ChatError) -> String {
    let user = try clients[Caller(self)].chatter(parameters.as)
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
    access.reportRefusal("to know \(source)")
    throw .unknownRoom(key.text)
  }
}

/// Parameters of a method that acts in a room on behalf of a user.
private protocol RoomParameters: PersonalParameters {
  var room: RoomKey { get }
}

private let roomDoc = "The room: its number, or its name."

private struct CreateRoom: DocumentedParameters, SourceParameters, PersonalParameters {
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

  private enum CodingKeys: String, CodingKey {
    case room
    case upTo = "up_to"
    case `as`
  }

  static let docs = [
    "room": roomDoc, "up_to": "The number of the last message read; left out: all.", "as": asDoc,
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
