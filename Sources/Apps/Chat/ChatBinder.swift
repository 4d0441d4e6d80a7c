package import Binder
internal import Signals

/// The chat sources that summarize others.
///
/// A role that may not read all of the others may not read the summary.
package let chatSummaries = ["chat/rooms": "chat/rooms/*"]

/// Offers the chat rooms and their messages to clients.
package func bindChat(_ catalog: Catalog, to chat: ChatService, _ clients: SessionTable) {
  catalog.offer(
    "Rooms and their messages. Log in with users.log_in, or give one of your names in 'as'.",
    chat.ledger)
  catalog.removal(of: \.rooms, chat.ledger, as: "chat.remove") {
    _ = try chat.remove(RoomKey($0), by: nil, isAnyAllowed: true)
  }
  bindRooms(catalog, to: chat, clients)
  bindMembers(catalog, to: chat, clients)
  bindMessages(catalog, to: chat, clients)
  bindReading(catalog, to: chat, clients)
  catalog.view("chat", "Rooms and people: log in, browse and chat.") { view in
    bindChat(view, clients[view.caller])
  }
  catalog.view(
    "room", "One room: read it, and join to write.", Parameter<RoomKey>("room"),
    Parameter<String?>("as")
  ) { view, room, name in
    let session = clients[view.caller]
    let user = try session.userSession(as: name)
    bindRoom(view, user, try chat.shownRoom(room).id)
    view.isFor(user, in: session)
  }
}

private var room: Parameter<RoomKey> { Parameter("room", "The room: its number, or its name.") }

private func bindRooms(_ catalog: Catalog, to chat: ChatService, _ clients: SessionTable) {
  catalog.command(
    "chat.create",
    "Creates a room and joins it; returns its number. There are at most \(ChatService.maxRooms), "
      + "\(ChatService.maxOwnRooms) of one user.",
    Parameter<String>("name", "48 bytes at most, a letter first."),
    Parameter<String?>("topic", "200 bytes at most."), asUser, records: "created",
    rejects: "too_many", in: "chat/rooms/*"
  ) { (caller: Caller, name: String, topic: String?, user: String?) in
    try chat.create(name, topic: topic ?? "", by: clients[caller].chatter(user))
  }
  catalog.command(
    "chat.remove",
    "Removes a room of yours and its messages; the owner of the daemon can remove any. Returns "
      + "how many messages it had.",
    room, asUser, records: "removed", rejects: "not_creator"
  ) { (caller: Caller, room: RoomKey, user: String?) in
    let user =
      caller.isOwner && user == nil
      ? clients[caller].name : try clients.chatter(caller, user, in: room, chat)
    return try chat.remove(room, by: user, isAnyAllowed: caller.isOwner)
  }
  catalog.command(
    "chat.rename", "Renames a room that you have joined.", room,
    Parameter<String>("name", "The new name."), asUser, records: "renamed", rejects: "not_member"
  ) { (caller: Caller, room: RoomKey, name: String, user: String?) in
    try chat.rename(room, to: name, by: clients.chatter(caller, user, in: room, chat))
  }
  catalog.command(
    "chat.topic", "Sets the topic of a room that you have joined.", room,
    Parameter<String>("topic", "200 bytes at most."), asUser, records: "topic_set",
    rejects: "not_member"
  ) { (caller: Caller, room: RoomKey, topic: String, user: String?) in
    try chat.setTopic(of: room, to: topic, by: clients.chatter(caller, user, in: room, chat))
  }
}

private func bindMembers(_ catalog: Catalog, to chat: ChatService, _ clients: SessionTable) {
  catalog.command(
    "chat.join", "Joins a room; returns whether you were not a member.", room, asUser,
    records: "joined"
  ) { (caller: Caller, room: RoomKey, user: String?) in
    try chat.join(room, by: clients.chatter(caller, user, in: room, chat))
  }
  catalog.command(
    "chat.leave", "Leaves a room; returns whether you were a member.", room, asUser,
    records: "left"
  ) { (caller: Caller, room: RoomKey, user: String?) in
    try chat.leave(room, by: clients.chatter(caller, user, in: room, chat))
  }
}

private func bindMessages(_ catalog: Catalog, to chat: ChatService, _ clients: SessionTable) {
  let id = Parameter<Int>("id", "The number of the message.")
  let text = Parameter<String>("text", "4000 bytes at most.")
  catalog.command(
    "chat.send", "Sends a message to a room that you have joined; returns its number.", room, text,
    asUser, records: "said", rejects: "not_member"
  ) { (caller: Caller, room: RoomKey, text: String, user: String?) in
    try chat.send(text, to: room, by: clients.chatter(caller, user, in: room, chat))
  }
  catalog.command(
    "chat.edit", "Changes a message of yours.", room, id, text, asUser, records: "edited",
    rejects: "not_author", "removed"
  ) { (caller: Caller, room: RoomKey, id: Int, text: String, user: String?) in
    try chat.edit(id, in: room, to: text, by: clients.chatter(caller, user, in: room, chat))
  }
  catalog.command(
    "chat.remove_message", "Removes a message of yours, or any in a room that you created.", room,
    id, asUser, records: "message_removed", rejects: "not_author", "removed"
  ) { (caller: Caller, room: RoomKey, id: Int, user: String?) in
    try chat.removeMessage(id, in: room, by: clients.chatter(caller, user, in: room, chat))
  }
}

private func bindReading(_ catalog: Catalog, to chat: ChatService, _ clients: SessionTable) {
  catalog.command(
    "chat.read", "Marks a room as read; returns how many messages are unread.", room,
    Parameter<Int?>("up_to", "The number of the last message read; left out: all."), asUser,
    records: "read", rejects: "not_member"
  ) { (caller: Caller, room: RoomKey, id: Int?, user: String?) in
    try chat.read(room, upTo: id, by: clients.chatter(caller, user, in: room, chat))
  }
  catalog.query(
    "chat.history",
    "A page of a room's messages, oldest first: the last ones, or those before one.", room,
    Parameter<Int?>("before", "The number of a message; left out: the end of the room."),
    Parameter<Int?>("limit", "1 to 200, 50 when left out; fewer if they are long.")
  ) { (caller: Caller, room: RoomKey, before: Int?, limit: Int?) in
    let id = try chat.shownRoom(room).id
    try caller.checkMayKnow(id, as: room)
    try caller.checkReadable("chat/rooms/\(id)/messages")
    return Array(try chat.history(of: room, before: before, limit: limit))
  }
  catalog.list(
    "chat.unread", "The number of unread messages in each room that you have joined.", asUser,
    reads: "chat/rooms/*/messages", as: UnreadRoom.self
  ) { (caller: Caller, user: String?) in
    RoomsService.joined(by: try clients[caller].chatter(user), in: chat)
  }
}

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

extension SessionTable {
  /// Returns the name of the user who acts in a room, and checks that the client may know the room.
  fileprivate func chatter(
    _ caller: Caller, _ name: String?, in room: RoomKey, _ chat: ChatService
  ) throws(ChatError) -> String {
    let user = try self[caller].chatter(name)
    try caller.checkMayKnow(try chat.room(room).id, as: room)
    return user
  }
}

extension Caller {
  /// Checks that the role may know a room.
  ///
  /// - Throws: ``ChatError/unknownRoom(_:)`` with the key of the request, so that a client who gave
  ///   the name does not learn the number.
  fileprivate func checkMayKnow(_ room: Int, as key: RoomKey) throws(ChatError) {
    let source = "chat/rooms/\(room)"
    guard !mayKnow(source), !mayKnow(source + "/messages") else { return }
    reportRefusal("to know \(source)")
    throw .unknownRoom(key.text)
  }
}

private struct UnreadRoom: Codable, ListRow {
  let id: Int
  let name: String
  let unread: Int

  init(_ id: Int, _ entry: RoomsService.Entry) {
    (self.id, name, unread) = (id, entry.room.name, entry.unread)
  }
}
