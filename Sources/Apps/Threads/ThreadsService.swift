package import EventSourcing
internal import Model
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

  package init(in host: ServiceHost) {
    ledger = Ledger("threads", in: host)
  }

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
    guard ledger.pending.lastID < Int.max else { throw .noNumberLeft }
    let id = ledger.pending.lastID + 1
    ledger.record(.started(name: name, author: user, by: author), in: "threads/\(id)")
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
    if thread.name != name { ledger.record(.renamed(name: name), in: "threads/\(id)") }
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
    ledger.record(.removed, in: "threads/\(id)")
    return thread.posts.count
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
    guard thread.posts.count < Self.maxPosts else {
      throw .tooMany(what: "posts", max: Self.maxPosts)
    }
    guard thread.lastPost < Int.max else { throw .noNumberLeft }
    let post = thread.lastPost + 1
    ledger.record(
      .posted(post: post, author: author, body: body, name: name), in: "threads/\(id)")
    return post
  }

  /// Replaces the text of a post; records nothing if it is unchanged.
  package func edit(
    _ post: Int, of id: Int, _ body: String, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    try check(body: body)
    if before.body != body { ledger.record(.edited(post: post, body: body), in: "threads/\(id)") }
    return body
  }

  /// Removes a post.
  ///
  /// - Returns: The removed text.
  package func removePost(
    _ post: Int, of id: Int, by user: UInt32, as name: String? = nil
  ) throws(ThreadsError) -> String {
    let before = try own(post, of: id, user, name)
    ledger.record(.postRemoved(post: post), in: "threads/\(id)")
    return before.body
  }

  /// Adds a like to a post; does nothing if the user likes it already.
  ///
  /// - Returns: The number of likes.
  package func like(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if !(try self.post(post, of: id).likers.contains(user)) {
      ledger.record(.liked(post: post, by: user), in: "threads/\(id)")
    }
    return try self.post(post, of: id).likes
  }

  /// Removes a like from a post; does nothing if the user does not like it.
  ///
  /// - Returns: The number of likes.
  package func unlike(_ post: Int, of id: Int, by user: UInt32) throws(ThreadsError) -> Int {
    if try self.post(post, of: id).likers.contains(user) {
      ledger.record(.unliked(post: post, by: user), in: "threads/\(id)")
    }
    return try self.post(post, of: id).likes
  }

  // MARK: Reading

  /// Returns a thread from the pending state, which includes events that are not durable yet.
  package func thread(_ id: Int) throws(ThreadsError) -> DiscussionThread {
    guard let thread = ledger.pending.threads[id] else { throw .unknownThread(id) }
    return thread
  }

  /// The durable threads, ordered by id.
  package var all: [DiscussionThread] {
    ledger.committed.threads.values.sorted { $0.id < $1.id }
  }

  /// Emits the durable name of a thread, now and after each change.
  ///
  /// Completes when the thread is removed.
  package func name(of id: Int) -> SafeSignal<String> {
    Signal { [ledger] observer in
      guard let name = ledger.committed.threads[id]?.name else {
        observer.complete()
        return NonDisposable.instance
      }
      observer.receive(name)
      return ledger.changes(of: "threads/\(id)").observeNext { _ in
        if let name = ledger.committed.threads[id]?.name {
          observer.receive(name)
        } else {
          observer.complete()
        }
      }
    }
    .removeDuplicates()
  }

  /// The durable threads by id; a row changes with the name or the number of posts.
  package var rows: RowList<Int, DiscussionThread> {
    ledger.rows(of: \.threads) { event, place in
      switch event {
      case .started, .renamed, .posted, .postRemoved, .removed:
        Threads.Part(place.stream).map { [$0.id] } ?? []
      case .edited, .liked, .unliked: []
      }
    }
  }

  /// Returns the durable posts of a thread, by id.
  package func posts(of id: Int) -> RowList<Int, Post> {
    RowList(
      Identity(ledger, "posts", id),
      keys: { [ledger] in ledger.committed.threads[id]?.posts.map(\.id) ?? [] },
      row: { [ledger] post in
        let thread = ledger.committed.threads[id]
        return thread?.index(of: post).flatMap { thread?.posts[$0] }
      },
      changes: ledger.events(in: "threads/\(id)").compactMap { event, _ in
        switch event {
        case .posted(let post, _, _, _), .edited(let post, _), .postRemoved(let post),
          .liked(let post, _), .unliked(let post, _):
          .rows([post])
        case .removed: .all
        case .started, .renamed: nil
        }
      })
  }

  /// Emits when the removal of a thread is durable.
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
    // JSON escapes of other control characters are six times as long, so the post would not fit
    // into a line.
    guard 1...Self.maxBodyBytes ~= body.utf8.count,
      body.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control || ["\n", "\r", "\t"].contains($0)
      })
    else { throw .badBody }
  }
}
