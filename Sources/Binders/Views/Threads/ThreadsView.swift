package import Connections
package import Services
internal import Signals

/// Shows all threads; each can be opened.
///
/// - Parameter isAnyAllowed: Whether the client may rename and remove threads of others as well.
package func bindThreads(
  _ view: View, _ session: Session, to threads: ThreadsService, isAnyAllowed: Bool = false
) {
  threads.ledger.shown.map(rows).bind(to: view["threads"])
  view.intent("start", ThreadName.self)
    .calls { try threads.start(name: $0.name, by: session.caller.uid, as: session.name) }
  view.intent("open", ThreadArguments.self).calls { _ = try threads.thread($0.id) }
    .opens("thread") { child, thread in
      // That there is such a thread was found out by the line before.
      try? bindThread(child, session, to: threads, thread, isAnyAllowed: isAnyAllowed)
    }
  view.intent("remove", ThreadArguments.self)
    .calls {
      try threads.remove(
        $0.id, by: session.caller.uid, as: session.name, isAnyAllowed: isAnyAllowed)
    }
    .destructive()
}

private func rows(_ threads: Threads) -> [ThreadRow] {
  threads.threads.values.sorted { $0.id < $1.id }.map {
    ThreadRow(id: $0.id, name: $0.name, posts: $0.posts.count)
  }
}

/// A thread as a row of a list shows it.
struct ThreadRow: Codable {
  let id: Int
  let name: String
  let posts: Int
}
