internal import Binder
internal import Signals

/// Shows all threads and lets the client open one.
func bindThreads(_ view: View, to threads: ThreadsService) {
  let (id, caller) = (Parameter<Int>("id"), view.caller)
  view.bind("threads", to: threads.ledger.rows(\.threads).rows(as: ThreadRow.self))
  view.intent("open", id, opens: "thread") { (id: Int) in _ = try threads.thread(id) }.main()
  view.intent("start", Parameter<String>("name")) { (name: String) in
    try threads.start(name: name, by: caller.uid, as: caller.name)
  }
  view.intent("remove", id) { (id: Int) in
    try threads.remove(id, by: caller.uid, as: caller.name, isAnyAllowed: caller.isOwner)
  }
  .destructive()
}

/// Shows a thread with its name and posts.
///
/// Each change of a post is sent separately.
func bindThread(_ view: View, to threads: ThreadsService, _ id: Int) throws {
  let (post, body, caller) = (Parameter<Int>("id"), Parameter<String>("body"), view.caller)
  view.hint("id", .hidden)
  view.assign("id", try threads.thread(id).id)
  view.bind("name", to: threads.name(of: id))
  view.bind("posts", to: threads.posts(of: id).rows(as: PostCell.self))
  view.observe(threads.removal(of: id)) { view.dismiss() }
  view.intent("post", body) { (body: String) in
    try threads.post(body, to: id, by: caller.uid, as: caller.name)
  }
  .main()
  view.intent("edit", post, body) { (post: Int, body: String) in
    try threads.edit(post, of: id, body, by: caller.uid, as: caller.name)
  }
  view.intent("like", post) { (post: Int) in try threads.like(post, of: id, by: caller.uid) }
  view.intent("unlike", post) { (post: Int) in try threads.unlike(post, of: id, by: caller.uid) }
  view.intent("rename", Parameter<String>("name")) { (name: String) in
    try threads.rename(
      id, to: name, by: caller.uid, as: caller.name, isAnyAllowed: caller.isOwner)
  }
  view.intent("remove", post) { (post: Int) in
    try threads.removePost(post, of: id, by: caller.uid, as: caller.name)
  }
  .destructive()
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
