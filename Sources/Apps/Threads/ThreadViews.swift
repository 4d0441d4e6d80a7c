package import Connections
internal import EventSourcing
internal import Model
internal import Signals

/// Shows all threads and lets the client open one.
///
/// - Parameter isAnyAllowed: Whether the client may rename and remove threads of other users too.
package func bindThreads(
  _ view: View, _ session: ClientSession, to threads: ThreadsService, isAnyAllowed: Bool = false
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

/// Shows a thread with its name and posts.
///
/// Each change of a post is sent separately.
///
/// - Parameter isAnyAllowed: Whether the client may rename threads of other users too.
package func bindThread(
  _ view: View, _ session: ClientSession, to threads: ThreadsService, _ thread: ThreadArguments,
  isAnyAllowed: Bool = false
) throws {
  let (id, user) = (thread.id, session.caller.uid)
  view["id"].hint(.hidden)
  view.assign("id", try threads.thread(id).id)
  threads.name(of: id).bind(to: view["name"])
  threads.posts(of: id).bind(to: view["posts"], as: PostCell.self)
  threads.removal(of: id).bind(to: view) { view, _ in view.dismiss() }
  view.intent("post", PostBody.self).calls {
    try threads.post($0.body, to: id, by: user, as: session.name)
  }
  .main()
  view.intent("edit", EditedPost.self).calls {
    try threads.edit($0.id, of: id, $0.body, by: user, as: session.name)
  }
  view.intent("like", NumberedPost.self).calls { try threads.like($0.id, of: id, by: user) }
  view.intent("unlike", NumberedPost.self).calls { try threads.unlike($0.id, of: id, by: user) }
  view.intent("rename", ThreadName.self)
    .calls {
      try threads.rename(
        id, to: $0.name, by: user, as: session.name, isAnyAllowed: isAnyAllowed)
    }
  view.intent("remove", NumberedPost.self).calls {
    try threads.removePost($0.id, of: id, by: user, as: session.name)
  }
  .destructive()
}

/// The arguments of the view of a thread.
package struct ThreadArguments: Decodable {
  let id: Int
}

/// A post as a row of the list.
private struct PostCell: Encodable, ListRow {
  let id: Int

  /// The name of the logged-in author, or the user id.
  let author: String
  let body: String
  let likes: Int

  init(_ id: Int, _ post: Post) {
    (self.id, author) = (id, post.name ?? "\(post.author)")
    (body, likes) = (post.body, post.likes)
  }
}

/// The name of a thread, as an argument of an intent.
struct ThreadName: Decodable {
  let name: String
}

private struct PostBody: Decodable {
  let body: String
}

private struct EditedPost: Decodable {
  let id: Int
  let body: String
}

private struct NumberedPost: Decodable {
  let id: Int
}
