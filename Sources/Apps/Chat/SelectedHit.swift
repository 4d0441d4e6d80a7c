package import Binder
internal import Signals

extension SearchHit {
  /// The sources that the result reveals: its own, and the thread or room named by its title.
  var sources: [String] {
    guard let source else { return [] }
    if let thread = thread(of: source) { return [source, "threads/\(thread)"] }
    if let room = Chat.room(of: source) { return [source, "chat/rooms/\(room)"] }
    return [source]
  }

  /// The views that ``openSelected(_:from:_:_:_:)`` may open.
  package static let views = ["thread", "room", "login"]
}

/// Returns the thread that a source shows, or whose posts it shows; `nil` for other sources.
private func thread(of source: String) -> Int? {
  let parts = source.split(separator: "/", omittingEmptySubsequences: false)
  guard parts.first == "threads", parts.count == 2 || parts.count == 3 && parts[2] == "posts" else {
    return nil
  }
  return Int(parts[1])
}

/// Opens the thread or room of a search result.
///
/// Other results are left for the client to open.
package func openSelected(
  _ hit: SearchHit, from view: Binder.View, _ clients: SessionTable,
  _ threads: ThreadsService, _ chat: ChatService
) throws {
  guard let source = hit.source else { return }
  let session = clients[view.caller]
  if let thread = thread(of: source) {
    let shown = ["threads/\(thread)", "threads/\(thread)/posts"]
    guard shown.allSatisfy(view.caller.mayRead) else { throw SearchError.notFound(id: hit.id) }
    _ = try threads.thread(thread)
    view.open("thread", with: hit) {
      // The line above has checked that the thread exists.
      try? bindThread($0, to: threads, thread)
    }
  } else if let room = Chat.room(of: source) {
    guard view.caller.mayOpen("room") else { throw SearchError.notFound(id: hit.id) }
    // The id is `chat/ROOM` or `chat/ROOM/MESSAGE`.
    let message = hit.id.split(separator: "/").dropFirst(2).first.flatMap { Int($0) }
    try open(room, at: message, from: view, session, chat, hit)
  }
}

/// Opens a room at a message, after a login if nobody is logged in.
private func open(
  _ room: Int, at message: Int?, from view: Binder.View, _ session: ClientSession,
  _ chat: ChatService, _ hit: SearchHit
) throws {
  _ = try chat.shownRoom(RoomKey(room))
  func visit(_ user: LoggedInUser) {
    view.open("room", with: hit) {
      bindRoom($0, user, room, at: message)
      $0.isFor(user, in: session)
    }
  }
  if let user = session.user.value { return visit(user) }
  view.open("login", with: hit) { login in
    bindLogin(login, session)
    login.observe(session.user.ignoreNils()) { user in
      visit(user)
      login.dismiss()
    }
  }
}
