internal import API
package import Binder
internal import Connections
internal import Signals

extension SearchHit {
  /// The sources that the result reveals: its own, and the thread or room named by its title.
  var sources: [String] {
    guard let source else { return [] }
    if let thread = Threads.Part(source)?.id { return [source, "threads/\(thread)"] }
    if let room = Chat.room(of: source)?.id { return [source, "chat/rooms/\(room)"] }
    return [source]
  }

  /// The views that ``openSelected(_:from:_:_:_:)`` may open.
  package static let views = ["thread", "room", "login"]
}

/// Opens the thread or room of a search result.
///
/// Other results are left for the client to open.
package func openSelected(
  _ hit: SearchHit, from view: Binder.View, _ clients: SessionTable,
  _ threads: ThreadsService, _ chat: ChatService
) throws {
  guard let source = hit.source else { return }
  let session = clients[view.context]
  if let part = Threads.Part(source) {
    let shown = ["threads/\(part.id)", "threads/\(part.id)/posts"]
    guard shown.allSatisfy(view.caller.mayRead) else { throw SearchError.notFound(id: hit.id) }
    _ = try threads.thread(part.id)
    view.open("thread", with: hit) {
      // The line above has checked that the thread exists.
      if let view = $0.engine {
        try? bindThread(view, session, to: threads, ThreadArguments(id: part.id))
      }
    }
  } else if let room = Chat.room(of: source)?.id {
    guard view.context.mayOpen("room") else { throw SearchError.notFound(id: hit.id) }
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
      guard let view = $0.engine else { return }
      bindRoom(view, user, room, at: message)
      view.isFor(user, in: session)
    }
  }
  if let user = session.user.value { return visit(user) }
  view.open("login", with: hit) {
    guard let login = $0.engine else { return }
    bindLogin(login, session)
    session.user.ignoreNils().bind(to: login) { login, user in
      visit(user)
      login.dismiss()
    }
  }
}
