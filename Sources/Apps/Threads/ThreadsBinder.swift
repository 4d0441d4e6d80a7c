package import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model

/// Offers the discussion threads to clients.
package func bindThreads(
  _ catalog: Catalog, to threads: ThreadsService, _ clients: SessionTable
) {
  catalog.offer(
    "Discussions: threads with posts, which can be liked; each change is sent alone.",
    threads.ledger)
  catalog.offerSources(
    of: threads.ledger,
    [
      .init("threads/*", "The thread of that number.", Shape(of: ThreadRow.self)),
      .init(
        "threads/*/posts", "Its posts, the oldest first.", .array(Shape(of: ShownPost.self)),
        kind: .list),
    ],
    exists: { Threads.Part($0) != nil })
  catalog.offerView("threads", of: "threads", "All discussions; each can be opened.") {
    view, context in
    bindThreads(view, clients[context], to: threads, isAnyAllowed: context.role == .owner)
  }
  catalog.offerView(
    "thread", of: "threads", "A discussion, to read and take part in.", ThreadArguments.self,
    reads: { ["threads/\($0.id)", "threads/\($0.id)/posts"] },
    within: ["threads/*", "threads/*/posts"]
  ) { view, context, thread in
    try bindThread(
      view, clients[context], to: threads, thread, isAnyAllowed: context.role == .owner)
  }
  offerThreadMethods(catalog, threads, clients)
  offerPostMethods(catalog, threads, clients)
}

extension Feature {
  package static func threads(_ threads: ThreadsService, _ clients: SessionTable) -> Feature {
    let remover = Remover("threads.remove", threads.ledger, depth: 2) { id in
      if let id = Int(id) { _ = try threads.remove(id, isAnyAllowed: true) }
    }
    return Feature(removers: [remover]) { bindThreads($0, to: threads, clients) }
  }
}

private func offerThreadMethods(
  _ catalog: Catalog, _ threads: ThreadsService, _ clients: SessionTable
) {
  catalog.command(
    "threads.start", "Starts a thread as the logged-in user; returns its number.",
    StartThread.self, writes: ["threads.started"], errors: asErrors + ["too_many"]
  ) { context, thread throws(ThreadsError) in
    try threads.start(
      name: thread.name, by: context.caller.uid, as: clients[context].author(thread.as))
  }
  catalog.command(
    "threads.rename",
    "Renames a thread that you have started; the owner of the daemon can rename any. "
      + "Returns the name.",
    RenameThread.self, writes: ["threads.renamed"], errors: asErrors + ["not_creator"]
  ) { context, thread throws(ThreadsError) in
    try threads.rename(
      thread.thread, to: thread.name, by: context.caller.uid,
      as: clients[context].author(thread.as),
      isAnyAllowed: context.role == .owner)
  }
  catalog.command(
    "threads.remove",
    "Removes a thread that you have started; the owner of the daemon can remove any. Returns how "
      + "many posts it had.",
    NumberedThread.self, writes: ["threads.removed"], errors: asErrors + ["not_creator"]
  ) { context, thread throws(ThreadsError) in
    try threads.remove(
      thread.thread, by: context.caller.uid, as: clients[context].author(thread.as),
      isAnyAllowed: context.role == .owner)
  }
  catalog.listQuery("threads.list", "All threads, by number.", of: ThreadRow.self) { context in
    context.rows(threads.rows, where: { context.role.mayRead("threads/\($0)") }, ThreadRow.init)
  }
}

private func offerPostMethods(
  _ catalog: Catalog, _ threads: ThreadsService, _ clients: SessionTable
) {
  catalog.command(
    "threads.post", "Adds a post as the logged-in user; returns its number.",
    NewPost.self, writes: ["threads.posted"], errors: asErrors + ["too_many"]
  ) { context, post throws(ThreadsError) in
    try threads.post(
      post.body, to: post.thread, by: context.caller.uid, as: clients[context].author(post.as))
  }
  catalog.command(
    "threads.edit", "Changes a post of yours; returns it.", EditPost.self,
    writes: ["threads.edited"], errors: asErrors + ["not_author"]
  ) { context, post throws(ThreadsError) in
    try threads.edit(
      post.post, of: post.thread, post.body, by: context.caller.uid,
      as: clients[context].author(post.as))
  }
  catalog.command(
    "threads.remove_post", "Removes a post of yours; returns its text.", OwnPost.self,
    writes: ["threads.post_removed"], errors: asErrors + ["not_author"]
  ) { context, post throws(ThreadsError) in
    try threads.removePost(
      post.post, of: post.thread, by: context.caller.uid, as: clients[context].author(post.as))
  }
  catalog.command(
    "threads.like", "Likes a post, once; returns how many likes it has.", NamedPost.self,
    writes: ["threads.liked"]
  ) { context, post throws(ThreadsError) in
    try threads.like(post.post, of: post.thread, by: context.caller.uid)
  }
  catalog.command(
    "threads.unlike", "Removes your like of a post; returns how many it has.", NamedPost.self,
    writes: ["threads.unliked"]
  ) { context, post throws(ThreadsError) in
    try threads.unlike(post.post, of: post.thread, by: context.caller.uid)
  }
}

extension ClientSession {
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
