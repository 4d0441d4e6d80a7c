package import Signals

/// Discussions: threads with a name and posts, which can be liked.
///
/// A thread is a stream and a source `threads/ID`; its posts are the list `threads/ID/posts`, which
/// tells each change alone: of a like the new count.
package final class ThreadsService {
  package static let maxThreads = 10_000
  package static let maxPosts = 10_000
  package static let maxNameLength = 200

  /// A character can be made of any number of bytes.
  package static let maxNameBytes = 800
  package static let maxBodyBytes = 16_384

  package let ledger: Ledger<Threads>

  package init(in host: ServiceHost) {
    ledger = Ledger("threads", in: host)
  }

  // MARK: Threads

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - user: The user of this machine, whose thread it is.
  ///   - author: Who that is called, when somebody is logged in: then it is theirs, whoever they are
  ///     on this machine.
  /// - Returns: Its number.
  package func start(
    name: String, by user: UInt32? = nil, as author: String? = nil
  ) throws(ThreadsError) -> Int {
    try check(name: name)
    guard ledger.newest.threads.count < Self.maxThreads else {
      throw .tooMany(what: "threads", max: Self.maxThreads)
    }
    guard ledger.newest.lastID < Int.max else { throw .noNumberLeft }
    let id = ledger.newest.lastID + 1
    ledger.record(.started(name: name, author: user, by: author), in: "threads/\(id)")
    return id
  }

  /// Gives a thread another name; who has started it may, and the same one records nothing.
  ///
  /// - Parameter isAnyAllowed: Whether whoever asks may rename all threads.
  /// - Returns: The name.
  package func rename(
    _ id: Int, to name: String, by user: UInt32? = nil, as author: String? = nil,
    isAnyAllowed: Bool = false
  ) throws(ThreadsError) -> String {
    let thread = try thread(id)
    guard isAnyAllowed || thread.isOf(user, author) else { throw .notTheStarter }
    try check(name: name)
    if thread.name != name { ledger.record(.renamed(name: name), in: "threads/\(id)") }
    return name
  }

  /// Removes a thread and its posts; who has started it may.
  ///
  /// - Parameter isAnyAllowed: Whether whoever asks may remove all threads.
  /// - Returns: How many posts it had.
  package func remove(
    _ id: Int, by user: UInt32? = nil, as author: String? = nil, isAnyAllowed: Bool = false
  ) throws(ThreadsError) -> Int {
    let thread = try thread(id)
    guard isAnyAllowed || thread.isOf(user, author) else { throw .notTheStarter }
    ledger.record(.removed, in: "threads/\(id)")
    return thread.posts.count
  }

  // MARK: Posts

  /// Posts something.
  ///
  /// - Parameters:
  ///   - author: The user of this machine, whose post it is.
  ///   - name: Who that is called, when somebody is logged in: then it is theirs, whoever they are
  ///     on this machine.
  /// - Returns: Its number within the thread.
  package func post(
    _ body: String, to id: Int, by author: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> Int {
    let thread = try thread(id)
    try check(body: body)
    guard thread.posts.count < Self.maxPosts else {
      throw .tooMany(what: "posts", max: Self.maxPosts)
    }
    guard thread.lastPost < Int.max else { throw .noNumberLeft }
    let post = thread.lastPost + 1
    ledger.record(
      .posted(post: post, author: author, body: body, name: name), in: "threads/\(id)")
    return post
  }

  /// Says something else in a post; the same again records nothing.
  package func edit(
    _ post: Int, of id: Int, _ body: String, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    try check(body: body)
    if before.body != body { ledger.record(.edited(post: post, body: body), in: "threads/\(id)") }
    return body
  }

  /// Deletes a post.
  ///
  /// - Returns: What it said.
  package func delete(
    _ post: Int, of id: Int, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    ledger.record(.deleted(post: post), in: "threads/\(id)")
    return before.body
  }

  /// Likes a post; a second time changes nothing.
  ///
  /// - Returns: How many like it.
  package func like(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if !(try self.post(post, of: id).likers.contains(user)) {
      ledger.record(.liked(post: post, by: user), in: "threads/\(id)")
    }
    return try self.post(post, of: id).likes
  }

  /// Likes a post no more; who has not liked it changes nothing.
  ///
  /// - Returns: How many like it.
  package func unlike(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if try self.post(post, of: id).likers.contains(user) {
      ledger.record(.unliked(post: post, by: user), in: "threads/\(id)")
    }
    return try self.post(post, of: id).likes
  }

  // MARK: Showing

  /// A thread with all that was decided.
  package func thread(_ id: Int) throws(ThreadsError) -> DiscussionThread {
    guard let thread = ledger.newest.threads[id] else { throw .unknownThread(id) }
    return thread
  }

  /// The durable threads, by number.
  package var all: [DiscussionThread] {
    ledger.shown.threads.values.sorted { $0.id < $1.id }
  }

  /// The durable name of a thread, now and after each change, until the thread is removed.
  package func name(of id: Int) -> SafeSignal<String> {
    Signal { [ledger] observer in
      guard let name = ledger.shown.threads[id]?.name else {
        observer.complete()
        return NonDisposable.instance
      }
      observer.receive(name)
      return ledger.changes(of: "threads/\(id)").observeNext { _ in
        if let name = ledger.shown.threads[id]?.name {
          observer.receive(name)
        } else {
          observer.complete()
        }
      }
    }
    .removeDuplicates()
  }

  /// The durable threads, by number: each is another one when its name or the number of its posts is.
  package var rows: RowList<Int, DiscussionThread> {
    ledger.rows(of: \.threads) { event, place in
      switch event {
      case .started, .renamed, .posted, .deleted, .removed:
        Threads.Part(place.stream).map { [$0.id] } ?? []
      case .edited, .liked, .unliked: []
      }
    }
  }

  /// The durable posts of a thread, by number.
  package func posts(of id: Int) -> RowList<Int, Post> {
    RowList(
      Identity(ledger, "posts", id),
      keys: { [ledger] in ledger.shown.threads[id]?.posts.map(\.id) ?? [] },
      row: { [ledger] post in
        let thread = ledger.shown.threads[id]
        return thread?.index(of: post).flatMap { thread?.posts[$0] }
      },
      changes: ledger.events(in: "threads/\(id)").compactMap { event, _ in
        switch event {
        case .posted(let post, _, _, _), .edited(let post, _), .deleted(let post),
          .liked(let post, _), .unliked(let post, _):
          .rows([post])
        case .removed: .all
        case .started, .renamed: nil
        }
      })
  }

  /// Tells when a thread is removed, durably.
  package func removal(of id: Int) -> SafeSignal<Void> {
    ledger.changes(of: "threads/\(id)").filter(\.isGone).map { _ in }
  }

  private func post(_ post: Int, of id: Int) throws(ThreadsError) -> Post {
    let thread = try thread(id)
    guard let index = thread.index(of: post) else { throw .unknownPost(post) }
    return thread.posts[index]
  }

  private func own(
    _ post: Int, of id: Int, _ user: UInt32, _ name: String?
  ) throws(ThreadsError) -> Post {
    let post = try self.post(post, of: id)
    guard post.isOf(user, name) else { throw .notTheAuthor }
    return post
  }

  private func check(name: String) throws(ThreadsError) {
    guard name.utf8.count <= Self.maxNameBytes, 1...Self.maxNameLength ~= name.count,
      !name.hasControlCharacters
    else { throw .badName }
  }

  private func check(body: String) throws(ThreadsError) {
    // Others are six times as long in a line of JSON, which a post would not fit into.
    guard 1...Self.maxBodyBytes ~= body.utf8.count,
      body.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control || ["\n", "\r", "\t"].contains($0)
      })
    else { throw .badBody }
  }
}
