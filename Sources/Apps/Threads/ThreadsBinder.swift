package import Binder

/// Offers the discussion threads to clients.
package func bindThreads(
  _ catalog: Catalog, to threads: ThreadsService, _ clients: SessionTable
) {
  catalog.offer(
    "Discussions: threads with posts, which can be liked; each change is sent alone.",
    threads.ledger)
  catalog.removal(of: \.threads, threads.ledger, as: "threads.remove") {
    _ = try threads.remove($0, isAnyAllowed: true)
  }
  catalog.view("threads", "All discussions; each can be opened.") { view in
    bindThreads(view, to: threads)
  }
  catalog.view(
    "thread", "A discussion, to read and take part in.", Parameter<Int>("id"),
    reads: "threads/{id}", "threads/{id}/posts"
  ) { view, id in
    try bindThread(view, to: threads, id)
  }
  offerThreadMethods(catalog, threads, clients)
  offerPostMethods(catalog, threads, clients)
}

private var thread: Parameter<Int> { Parameter("thread", "The thread's number.") }

extension SessionTable {
  /// Returns the name of the user who acts; `nil` if nobody is logged in and no name is given.
  fileprivate func author(_ caller: Caller, _ name: String?) throws -> String? {
    name == nil ? caller.name : try self[caller].actor(as: name)
  }
}

private func offerThreadMethods(
  _ catalog: Catalog, _ threads: ThreadsService, _ clients: SessionTable
) {
  let name = Parameter<String>("name", "1 to \(ThreadsService.maxNameLength) characters.")
  catalog.command(
    "threads.start", "Starts a thread as the logged-in user; returns its number.", name, asUser,
    records: "started", rejects: "too_many", in: "threads/*"
  ) { (caller: Caller, name: String, user: String?) in
    try threads.start(name: name, by: caller.uid, as: clients.author(caller, user))
  }
  catalog.command(
    "threads.rename",
    "Renames a thread that you have started; the owner of the daemon can rename any. "
      + "Returns the name.",
    thread, name, asUser, records: "renamed", rejects: "not_creator", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, name: String, user: String?) in
    try threads.rename(
      thread, to: name, by: caller.uid, as: clients.author(caller, user),
      isAnyAllowed: caller.isOwner)
  }
  catalog.command(
    "threads.remove",
    "Removes a thread that you have started; the owner of the daemon can remove any. Returns how "
      + "many posts it had.",
    thread, asUser, records: "removed", rejects: "not_creator", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, user: String?) in
    try threads.remove(
      thread, by: caller.uid, as: clients.author(caller, user), isAnyAllowed: caller.isOwner)
  }
  catalog.list(
    "threads.list", "All threads, by number.", \.threads, of: threads.ledger, as: ThreadRow.self)
}

private func offerPostMethods(
  _ catalog: Catalog, _ threads: ThreadsService, _ clients: SessionTable
) {
  let post = Parameter<Int>("post", "The post's number within the thread.")
  let body = Parameter<String>(
    "body", "The text, \(ThreadsService.maxBodyBytes) bytes at most.")
  catalog.command(
    "threads.post", "Adds a post as the logged-in user; returns its number.", thread, body, asUser,
    records: "posted", rejects: "too_many", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, body: String, user: String?) in
    try threads.post(body, to: thread, by: caller.uid, as: clients.author(caller, user))
  }
  catalog.command(
    "threads.edit", "Changes a post of yours; returns it.", thread, post, body, asUser,
    records: "edited", rejects: "not_author", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, post: Int, body: String, user: String?) in
    try threads.edit(post, of: thread, body, by: caller.uid, as: clients.author(caller, user))
  }
  catalog.command(
    "threads.remove_post", "Removes a post of yours; returns its text.", thread, post, asUser,
    records: "post_removed", rejects: "not_author", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, post: Int, user: String?) in
    try threads.removePost(post, of: thread, by: caller.uid, as: clients.author(caller, user))
  }
  catalog.command(
    "threads.like", "Likes a post, once; returns how many likes it has.", thread, post,
    records: "liked", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, post: Int) in
    try threads.like(post, of: thread, by: caller.uid)
  }
  catalog.command(
    "threads.unlike", "Removes your like of a post; returns how many it has.", thread, post,
    records: "unliked", in: "threads/{thread}"
  ) { (caller: Caller, thread: Int, post: Int) in
    try threads.unlike(post, of: thread, by: caller.uid)
  }
}
