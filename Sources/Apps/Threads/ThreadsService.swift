package import Binder
package import Signals

/// Discussion threads with posts, which can be liked.
///
/// A thread is a stream and a source `threads/ID`. Its posts are the list `threads/ID/posts`,
/// which reports each change separately. A like reports only the new count.
package final class ThreadsService {
  package static let maxThreads = 10_000
  package static let maxPosts = 10_000
  package static let maxNameLength = 200

  /// Needed because one character can have any number of bytes.
  package static let maxNameBytes = 800
  package static let maxBodyBytes = 16_384

  package let ledger: Ledger<Threads>

  package init(in host: Host) { ledger = Ledger("threads", in: host) }

  // MARK: Threads

  /// Starts a thread.
  ///
  /// - Parameters:
  ///   - user: The calling user's uid.
  ///   - author: The name of the logged-in user, who then owns the thread regardless of uid;
  ///     `nil` if nobody is logged in.
  /// - Returns: The id of the thread.
  package func start(
    name: String, by user: UInt32? = nil, as author: String? = nil
  ) throws(ThreadsError) -> Int {
    try check(name: name)
    guard ledger.pending.threads.count < Self.maxThreads else {
      throw .tooMany(what: "threads", max: Self.maxThreads)
    }
    let id = ledger.pending.threads.nextID
    guard id > 0 else { throw .noNumberLeft }
    record(.started(name: name, author: user, by: author), id)
    return id
  }

  /// Renames a thread.
  ///
  /// Only its starter may. Records nothing if the name is unchanged.
  ///
  /// - Parameter isAnyAllowed: Whether the caller may rename any thread.
  /// - Returns: The name.
  package func rename(
    _ id: Int, to name: String, by user: UInt32? = nil, as author: String? = nil,
    isAnyAllowed: Bool = false
  ) throws(ThreadsError) -> String {
    let thread = try thread(id)
    guard isAnyAllowed || thread.isOf(user, author) else { throw .notTheStarter }
    try check(name: name)
    if thread.name != name { record(.renamed(name: name), id) }
    return name
  }

  /// Removes a thread with its posts; only its starter may.
  ///
  /// - Parameter isAnyAllowed: Whether the caller may remove any thread.
  /// - Returns: The number of its posts.
  package func remove(
    _ id: Int, by user: UInt32? = nil, as author: String? = nil, isAnyAllowed: Bool = false
  ) throws(ThreadsError) -> Int {
    let thread = try thread(id)
    guard isAnyAllowed || thread.isOf(user, author) else { throw .notTheStarter }
    record(.removed, id)
    return thread.posts
  }

  // MARK: Posts

  /// Adds a post to a thread.
  ///
  /// - Parameters:
  ///   - author: The calling user's uid.
  ///   - name: The name of the logged-in user, who then owns the post regardless of uid; `nil` if
  ///     nobody is logged in.
  /// - Returns: The id of the post within the thread.
  package func post(
    _ body: String, to id: Int, by author: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> Int {
    let thread = try thread(id)
    try check(body: body)
    guard thread.posts < Self.maxPosts else {
      throw .tooMany(what: "posts", max: Self.maxPosts)
    }
    guard thread.lastPost < Int.max else { throw .noNumberLeft }
    let post = thread.lastPost + 1
    record(.posted(post: post, author: author, body: body, name: name), id)
    return post
  }

  /// Replaces the text of a post; records nothing if it is unchanged.
  package func edit(
    _ post: Int, of id: Int, _ body: String, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    try check(body: body)
    if before.body != body { record(.edited(post: post, body: body), id) }
    return body
  }

  /// Removes a post.
  ///
  /// - Returns: The removed text.
  package func removePost(
    _ post: Int, of id: Int, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    record(.postRemoved(post: post), id)
    return before.body
  }

  /// Adds a like to a post; does nothing if the user likes it already.
  ///
  /// - Returns: The number of likes.
  package func like(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if !(try self.post(post, of: id).likers.contains(user)) {
      record(.liked(post: post, by: user), id)
    }
    return try self.post(post, of: id).likes
  }

  /// Removes a like from a post; does nothing if the user does not like it.
  ///
  /// - Returns: The number of likes.
  package func unlike(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if try self.post(post, of: id).likers.contains(user) {
      record(.unliked(post: post, by: user), id)
    }
    return try self.post(post, of: id).likes
  }

  // MARK: Reading

  /// Returns a thread from the pending state, which includes events that are not durable yet.
  package func thread(_ id: Int) throws(ThreadsError) -> DiscussionThread {
    guard let thread = ledger.pending.threads[id] else { throw .unknownThread(id) }
    return thread
  }

  /// Emits the durable name of a thread, now and after each change.
  ///
  /// Completes when the thread is removed.
  package func name(of id: Int) -> SafeSignal<String> {
    ledger.values(of: \.threads, id).prefix { $0 != nil }.compactMap { $0?.name }
      .removeDuplicates()
  }

  /// Returns the durable posts of a thread, by id.
  package func posts(of id: Int) -> RowList<Int, Post> {
    RowList(
      Identity(ledger, "posts", id),
      keys: { [ledger] in ledger.committed.posts[id].map(\.id) },
      row: { [ledger] post in
        let posts = ledger.committed.posts[id]
        return posts.index(of: post).map { posts[$0] }
      },
      changes: ledger.events(of: \.threads, id).compactMap { event, _ in
        switch event {
        case .posted(let post, _, _, _), .edited(let post, _), .postRemoved(let post),
          .liked(let post, _), .unliked(let post, _):
          .rows([post])
        case .removed: .all
        case .started, .renamed: nil
        }
      }
      .merge(with: restored(id).map { .all }))
  }

  /// Emits after an undo has changed a thread.
  private func restored(_ id: Int) -> SafeSignal<Void> {
    ledger.restored.filter { $0.key() == id }.map { _ in }
  }

  /// Emits when the removal of a thread is durable.
  package func removal(of id: Int) -> SafeSignal<Void> {
    ledger.values(of: \.threads, id).dropFirst(1).filter { $0 == nil }.map { _ in }
  }

  private func post(_ post: Int, of id: Int) throws(ThreadsError) -> Post {
    _ = try thread(id)
    let posts = ledger.pending.posts[id]
    guard let index = posts.index(of: post) else { throw .unknownPost(post) }
    return posts[index]
  }

  private func record(_ event: Threads.Event, _ id: Int) {
    ledger.record(event, of: \.threads, id)
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
    // JSON escapes of other control characters are six times as long, so the post would not fit
    // into a line.
    guard 1...Self.maxBodyBytes ~= body.utf8.count,
      body.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control || ["\n", "\r", "\t"].contains($0)
      })
    else { throw .badBody }
  }
}
