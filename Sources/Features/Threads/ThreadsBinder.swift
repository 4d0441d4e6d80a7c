internal import Configuration
internal import Connections
internal import EventSourcing
internal import Facts
internal import JSON

/// Offers the discussion threads to clients.
package func bindThreads(_ interface: Interface, to threads: ThreadsService) {
  interface.offer(
    "threads", "Discussions: threads with posts, which can be liked; each change is sent alone.",
    events: [
      "started", "renamed", "posted", "edited", "deleted", "liked", "unliked", "removed",
    ].map { "threads.\($0)" })
  interface.offerSources(
    of: threads.ledger,
    [
      .init("threads/*", "The thread of that number.", Shape(of: ThreadRow.self)),
      .init(
        "threads/*/posts", "Its posts, the oldest first.", .array(Shape(of: ShownPost.self)),
        kind: .list),
    ],
    exists: { Threads.Part($0) != nil })
  let isAnyAllowed = interface.role == .owner
  interface.offerView("threads", "All discussions; each can be opened.") { view, session in
    bindThreads(view, session, to: threads, isAnyAllowed: isAnyAllowed)
  }
  interface.offerView(
    "thread", "A discussion, to read and take part in.", ThreadArguments.self,
    reads: { ["threads/\($0.id)", "threads/\($0.id)/posts"] }
  ) { view, session, thread in
    try bindThread(view, session, to: threads, thread, isAnyAllowed: isAnyAllowed)
  }
  offerThreadMethods(interface, threads)
  offerPostMethods(interface, threads)
}

private func offerThreadMethods(_ interface: Interface, _ threads: ThreadsService) {
  interface.command(
    "threads.start", "Starts a thread as the logged-in user; returns its number.",
    StartThread.self, writes: ["threads.started"], errors: asErrors + ["too_many"]
  ) { session, thread throws(ThreadsError) in
    try threads.start(
      name: thread.name, by: session.caller.uid, as: session.author(thread.as))
  }
  let isAnyAllowed = interface.role == .owner
  interface.command(
    "threads.rename",
    "Renames a thread that you have started; the owner of the daemon can rename any. "
      + "Returns the name.",
    RenameThread.self, writes: ["threads.renamed"], errors: asErrors + ["not_creator"]
  ) { session, thread throws(ThreadsError) in
    try threads.rename(
      thread.thread, to: thread.name, by: session.caller.uid, as: session.author(thread.as),
      isAnyAllowed: isAnyAllowed)
  }
  interface.command(
    "threads.remove",
    "Removes a thread that you have started; the owner of the daemon can remove any. Returns how "
      + "many posts it had.",
    NumberedThread.self, writes: ["threads.removed"], errors: asErrors + ["not_creator"]
  ) { session, thread throws(ThreadsError) in
    try threads.remove(
      thread.thread, by: session.caller.uid, as: session.author(thread.as),
      isAnyAllowed: isAnyAllowed)
  }
  interface.query(
    "threads.list", "All threads, by number.", NoParameters.self, .value([ThreadRow].self)
  ) { interface, call, _ in
    let all = threads.all.filter { interface.role.mayRead("threads/\($0.id)") }
    interface.answer(
      call, with: all.map { ThreadRow($0.id, $0) })
  }
}

private func offerPostMethods(_ interface: Interface, _ threads: ThreadsService) {
  interface.command(
    "threads.post", "Adds a post as the logged-in user; returns its number.",
    NewPost.self, writes: ["threads.posted"], errors: asErrors + ["too_many"]
  ) { session, post throws(ThreadsError) in
    try threads.post(
      post.body, to: post.thread, by: session.caller.uid, as: session.author(post.as))
  }
  interface.command(
    "threads.edit", "Changes a post of yours; returns it.", EditPost.self,
    writes: ["threads.edited"], errors: asErrors + ["not_the_author"]
  ) { session, post throws(ThreadsError) in
    try threads.edit(
      post.post, of: post.thread, post.body, by: session.caller.uid,
      as: session.author(post.as))
  }
  interface.command(
    "threads.delete", "Deletes a post of yours; returns its text.", OwnPost.self,
    writes: ["threads.deleted"], errors: asErrors + ["not_the_author"]
  ) { session, post throws(ThreadsError) in
    try threads.delete(
      post.post, of: post.thread, by: session.caller.uid, as: session.author(post.as))
  }
  interface.command(
    "threads.like", "Likes a post, once; returns how many likes it has.", NamedPost.self,
    writes: ["threads.liked"]
  ) { [unowned interface] (post: NamedPost) throws(ThreadsError) in
    try threads.like(post.post, of: post.thread, by: interface.caller.uid)
  }
  interface.command(
    "threads.unlike", "Removes your like of a post; returns how many it has.", NamedPost.self,
    writes: ["threads.unliked"]
  ) { [unowned interface] (post: NamedPost) throws(ThreadsError) in
    try threads.unlike(post.post, of: post.thread, by: interface.caller.uid)
  }
}

extension Session {
  /// Returns the name of the user who acts; `nil` if nobody is logged in and no name is given.
  fileprivate func author(_ name: String?) throws(ThreadsError) -> String? {
    guard let name else { return self.name }
    do throws(UsersError) {
      return try actor(as: name)
    } catch {
      throw .user(error)
    }
  }
}

/// A post as its source shows it.
private struct ShownPost: Codable {
  let id: Int
  let author: UInt32
  let name: String?
  let body: String
  let likes: Int
}

private protocol ThreadParameters: SourceParameters {
  var thread: Int { get }
}

extension ThreadParameters {
  var source: String { "threads/\(thread)" }
}

private let threadDoc = "The thread's number."
private let postDoc = "The post's number within the thread."
private let nameDoc = "1 to \(ThreadsService.maxNameLength) characters."
private let bodyDoc = "The text, \(ThreadsService.maxBodyBytes) bytes at most."

private struct StartThread: DocumentedParameters, SourceParameters {
  let name: String
  let `as`: String?
  var source: String { "threads/*" }

  static let docs = ["name": nameDoc, "as": asDoc]
}

private struct RenameThread: DocumentedParameters, ThreadParameters {
  let thread: Int
  let name: String
  let `as`: String?

  static let docs = ["thread": threadDoc, "name": nameDoc, "as": asDoc]
}

private struct NumberedThread: DocumentedParameters, ThreadParameters {
  let thread: Int
  let `as`: String?

  static let docs = ["thread": threadDoc, "as": asDoc]
}

private struct NewPost: DocumentedParameters, ThreadParameters {
  let thread: Int
  let body: String
  let `as`: String?

  static let docs = ["thread": threadDoc, "body": bodyDoc, "as": asDoc]
}

private struct EditPost: DocumentedParameters, ThreadParameters {
  let thread: Int
  let post: Int
  let body: String
  let `as`: String?

  static let docs = ["thread": threadDoc, "post": postDoc, "body": bodyDoc, "as": asDoc]
}

private struct OwnPost: DocumentedParameters, ThreadParameters {
  let thread: Int
  let post: Int
  let `as`: String?

  static let docs = ["thread": threadDoc, "post": postDoc, "as": asDoc]
}

private struct NamedPost: DocumentedParameters, ThreadParameters {
  let thread: Int
  let post: Int

  static let docs = ["thread": threadDoc, "post": postDoc]
}
