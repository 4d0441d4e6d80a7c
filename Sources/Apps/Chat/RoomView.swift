internal import Binder
internal import Signals

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
  let (id, text) = (Parameter<Int>("id"), Parameter<String>("text"))
  view.remember("window", { window.place }, restore: window.show)
  view.bind("name", to: messages.info.map(\.name))
  view.bind("topic", to: messages.info.map(\.topic))
  view.hint("topic", .quiet)
  view.bind("members", to: messages.members.value(as: MembersLine.self))
  view.hint("members", .quiet)
  view.bind(
    "joined", to: messages.info.map { _ in messages.isJoined }.removeDuplicates())
  view.hint("joined", .hidden)
  if let message {
    view.hint("chosen", .hidden)
    view.assign("chosen", message)
  }
  view.bindList(
    "messages",
    toChanges: window.messages.mapCollection {
      MessageRow($0, session.name, creator: messages.roomNow?.creator)
    })
  view.hide("mine", "removable", of: "messages")
  view.bind("before", to: window.beyond.map(\.before))
  view.hint("before", .before)
  view.bind("after", to: window.beyond.map(\.after))
  view.hint("after", .after)
  view.observe(messages.removal) { view.dismiss() }
  view.intent("join") { try messages.join() }.main().unless("joined")
  view.intent("send", text) { (text: String) throws -> Int in
    let id = try messages.send(text)
    window.showEnd()
    return id
  }
  .main().when("joined")
  view.intent("edit", id, text) { (id: Int, text: String) in try messages.edit(id, to: text) }
    .when("joined").whenRow("mine")
  view.intent("older") { window.showOlder() }.when("before")
  view.intent("newer") { window.showNewer() }.when("after")
  view.intent("end") { window.showEnd() }.when("after")
  view.intent("describe", opens: "describe_room", as: .present) { bindDescribeRoom($0, messages) }
    .when("joined")
  view.intent("remove", id) { (id: Int) in try messages.removeMessage(id) }.destructive()
    .when("joined").whenRow("removable")
  view.intent("leave") { try messages.leave() }.dismisses().destructive().when("joined")
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
    let time = Host.text(ofTime: message.time)
    self.time = String(time.dropFirst(5).prefix(11).map { $0 == "T" ? " " : $0 })
    note = message.isRemoved ? "removed" : message.isEdited ? "edited" : ""
  }
}
