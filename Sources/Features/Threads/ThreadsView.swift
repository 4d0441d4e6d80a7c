package import Connections
internal import EventSourcing
internal import Facts
internal import Signals

/// Shows all threads and lets the client open one.
///
/// - Parameter isAnyAllowed: Whether the client may rename and remove threads of other users too.
package func bindThreads(
  _ view: View, _ session: Session, to threads: ThreadsService, isAnyAllowed: Bool = false
) {
  threads.rows.bind(to: view["threads"], as: ThreadRow.self)
  view.intent("open", ThreadArguments.self).calls { _ = try threads.thread($0.id) }
    .opens("thread") { child, thread in
      // `calls` above has checked that the thread exists.
      try? bindThread(child, session, to: threads, thread, isAnyAllowed: isAnyAllowed)
    }
    .main()
  view.intent("start", ThreadName.self)
    .calls { try threads.start(name: $0.name, by: session.caller.uid, as: session.name) }
  view.intent("remove", ThreadArguments.self)
    .calls {
      try threads.remove(
        $0.id, by: session.caller.uid, as: session.name, isAnyAllowed: isAnyAllowed)
    }
    .destructive()
}

/// A thread as a row of the list.
struct ThreadRow: Codable, ListRow {
  let id: Int
  let name: String
  let posts: Int

  init(_ id: Int, _ thread: DiscussionThread) {
    (self.id, name, posts) = (id, thread.name, thread.posts.count)
  }
}
