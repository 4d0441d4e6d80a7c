package import API
internal import Configuration
package import Connections
internal import JSON
internal import Signals

extension SearchHit {
  /// The sources that the result reveals: its own, and the thread or room named by its title.
  var sources: [String] {
    guard let source else { return [] }
    if let thread = Threads.Part(source)?.id { return [source, "threads/\(thread)"] }
    if let room = Chat.room(of: source)?.id { return [source, "chat/rooms/\(room)"] }
    return [source]
  }
}

extension SearchHit {
  /// Returns the result as JSON, with which a view opens it again.
  fileprivate var terms: JSONText? { try? JSONEncoder().text(self) }
}

/// Opens the thread or room of a search result.
///
/// Other results are left for the client to open.
package func openSelected(
  _ hit: SearchHit, from view: View, _ context: CallContext, _ clients: SessionTable,
  _ threads: ThreadsService, _ chat: ChatService
) throws {
  guard let source = hit.source else { return }
  let session = clients[context]
  if let part = Threads.Part(source) {
    let shown = ["threads/\(part.id)", "threads/\(part.id)/posts"]
    guard shown.allSatisfy(context.role.mayRead) else {
      throw SearchError.notFound(id: hit.id)
    }
    try open(part, from: view, session, threads, hit)
  } else if let room = Chat.room(of: source)?.id {
    guard context.mayOpen("room") else { throw SearchError.notFound(id: hit.id) }
    // The id is `chat/ROOM` or `chat/ROOM/MESSAGE`.
    let message = hit.id.split(separator: "/").dropFirst(2).first.flatMap { Int($0) }
    try open(room, at: message, from: view, session, chat, hit)
  }
}

private func open(
  _ part: Threads.Part, from view: View, _ session: ClientSession, _ threads: ThreadsService,
  _ hit: SearchHit
) throws {
  _ = try threads.thread(part.id)
  view.open("thread", as: .push, with: hit.terms) {
    // The line above has checked that the thread exists.
    try? bindThread($0, session, to: threads, ThreadArguments(id: part.id))
  }
}

/// Opens a room at a message, after a login if nobody is logged in.
private func open(
  _ room: Int, at message: Int?, from view: View, _ session: ClientSession, _ chat: ChatService,
  _ hit: SearchHit
) throws {
  _ = try chat.shownRoom(RoomKey(room))
  let arguments = hit.terms
  if let user = session.user.value {
    view.open("room", as: .push, with: arguments) {
      bindVisit($0, session, user, room, at: message)
    }
    return
  }
  view.open("login", as: .push, with: arguments) { [unowned view] login in
    bindLogin(login, session)
    session.user.ignoreNils().bind(to: login) { login, user in
      view.open("room", as: .push, with: arguments) {
        bindVisit($0, session, user, room, at: message)
      }
      login.dismiss()
    }
  }
}

/// Shows a room as long as the user is logged in.
private func bindVisit(
  _ view: View, _ session: ClientSession, _ user: LoggedInUser, _ room: Int, at message: Int?
) {
  bindRoom(view, user, room, at: message)
  view.isFor(user, in: session)
}
