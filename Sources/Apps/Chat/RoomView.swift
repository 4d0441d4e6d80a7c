internal import Connections
internal import Signals
internal import Wire

/// Shows the messages and members of a room.
///
/// A user who has not joined can read and join; `joined` says which intents make sense.
///
/// The view shows a movable window of the messages; `before` and `after` count the messages outside
/// of it.
///
/// - Parameter message: The message to show first; `nil` for the last one.
func bindRoom(_ view: View, _ session: LoggedInUser, _ room: Int, at message: Int? = nil) {
  let messages = session.messages(in: room)
  let window = messages.window(at: message)
  view.remember("window", { window.place }, restore: window.show)
  messages.info.map(\.name).bind(to: view["name"])
  messages.info.map(\.topic).bind(to: view["topic"].hint(.quiet))
  messages.members.bind(to: view["members"].hint(.quiet), as: MembersLine.self)
  messages.info.map { $0.members[session.name] != nil }.removeDuplicates()
    .bind(to: view["joined"].hint(.hidden))
  if let message {
    view["chosen"].hint(.hidden)
    view.assign("chosen", message)
  }
  window.messages
    .mapCollection { MessageRow($0, session.name, creator: messages.roomNow?.creator) }
    .bind(to: view["messages"].hiding("mine", "removable"))
  window.beyond.map(\.before).bind(to: view["before"].hint(.before))
  window.beyond.map(\.after).bind(to: view["after"].hint(.after))
  messages.removal.bind(to: view) { view, _ in view.dismiss() }
  view.intent("join").calls { _ in try messages.join() }.main().unless("joined")
  view.intent("send", NewText.self).calls { new in
    let id = try messages.send(new.text)
    window.showEnd()
    return id
  }
  .main()
  .when("joined")
  view.intent("edit", ChangedText.self).calls { try messages.edit($0.id, to: $0.text) }
    .when("joined").whenRow("mine", isMet: true)
  view.intent("older").calls { _ in window.showOlder() }.when("before")
  view.intent("newer").calls { _ in window.showNewer() }.when("after")
  view.intent("end").calls { _ in window.showEnd() }.when("after")
  view.intent("describe").opens("describe_room", as: .present) { view, _ in
    bindDescribeRoom(view, messages)
  }
  .when("joined")
  view.intent("remove", MessageID.self).calls { try messages.removeMessage($0.id) }.destructive()
    .when("joined").whenRow("removable", isMet: true)
  view.intent("leave").calls { _ in try messages.leave() }.dismisses().destructive()
    .when("joined")
}

/// The members of a room in one line; online members are marked with `*`.
private struct MembersLine: Rendering, Encodable {
  let text: String

  init(_ members: [MessagesService.Member]) {
    text = members.map { $0.isHere ? $0.name + "*" : $0.name }.joined(separator: " ")
  }

  func encode(to encoder: any Encoder) throws { try text.encode(to: encoder) }
}

private struct MessageRow: Encodable {
  let id: Int
  let time: String
  let author: String

  /// The state of the message: empty, `edited` or `removed`.
  let note: String
  let text: String

  /// Whether the user has written the message, and it is still there.
  let mine: Bool?

  /// Whether the user may remove the message.
  let removable: Bool?

  init(_ message: Message, _ user: String, creator: String?) {
    (id, author, text) = (message.id, message.author, message.text)
    mine = !message.isRemoved && message.author == user ? true : nil
    removable = !message.isRemoved && (mine == true || creator == user) ? true : nil
    // Keeps day and minute of 2026-01-02T03:04:05.678901Z.
    let time = Timestamp(microseconds: message.time).text
    self.time = String(time.dropFirst(5).prefix(11).map { $0 == "T" ? " " : $0 })
    note = message.isRemoved ? "removed" : message.isEdited ? "edited" : ""
  }
}

private struct NewText: Decodable {
  let text: String
}

private struct ChangedText: Decodable {
  let id: Int
  let text: String
}

private struct MessageID: Decodable {
  let id: Int
}
