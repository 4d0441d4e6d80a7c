package import Binder
internal import JSON

/// The threads and their posts, by the id of the thread; the events of a thread are in the stream
/// `threads/ID`.
package struct Threads: State {
  package enum Event: Codable, Equatable, Sendable {
    case started(name: String, author: UInt32? = nil, by: String? = nil)
    case renamed(name: String)
    case posted(post: Int, author: UInt32, body: String, name: String? = nil)
    case edited(post: Int, body: String)
    case postRemoved(post: Int)
    case liked(post: Int, by: UInt32)
    case unliked(post: Int, by: UInt32)
    case removed

    /// The words of the event types in the journal and on the wire.
    private enum CodingKeys: String, CodingKey {
      case started, renamed, posted, edited
      case postRemoved = "post_removed"
      case liked, unliked, removed
    }
  }

  package private(set) var threads = Table<Int, DiscussionThread>()

  /// The posts of each thread, the oldest first.
  package private(set) var posts = Lists<Int, Post>()

  package init() {}

  package static let sources = [
    Source.rows(
      \Threads.threads, "threads/*", "The thread of that number.", as: ThreadRow.self,
      keys: { $0 > 0 }),
    // The bytes of the posts are charged to the stream of their thread.
    .lists(
      \.posts, "threads/*/posts", "Its posts, the oldest first.", as: ShownPost.self,
      keys: { $0 > 0 }, in: "threads/*", isMerging: true),
  ]

  package mutating func apply(_ event: Event, at context: EventContext) {
    guard let id: Int = context.key() else { return }
    switch event {
    case .started(let name, let author, let starter):
      threads[id] = DiscussionThread(id: id, name: name, starter: author, starterName: starter)
      posts[id] = []
    case .renamed(let name): threads[id]?.name = name
    case .posted(let post, let author, let body, let name):
      guard var thread = threads[id] else { break }
      (thread.posts, thread.lastPost) = (thread.posts + 1, post)
      threads[id] = thread
      posts.append(Post(id: post, author: author, name: name, body: body), to: id)
    case .edited(let post, let body): change(post, of: id) { $0.body = body }
    case .postRemoved(let post):
      guard let index = posts[id].index(of: post) else { break }
      threads[id]?.posts -= 1
      posts.remove(at: index, in: id)
    case .liked(let post, let user): change(post, of: id) { $0.likers.insert(user) }
    case .unliked(let post, let user): change(post, of: id) { $0.likers.remove(user) }
    case .removed:
      threads[id] = nil
      posts[id] = []
    }
  }

  private mutating func change(_ post: Int, of id: Int, _ body: (inout Post) -> Void) {
    // No reference to the list is kept: the update would copy the list.
    guard let index = posts[id].index(of: post) else { return }
    var post = posts[id][index]
    body(&post)
    posts.update(post, at: index, in: id)
  }

  /// 1: `{"threads":{"1":{…,"posts":[…]}},"lastID":1}`; 2: the posts beside the threads.
  package static let forms = [
    Upcaster.ofMembers { kept in
      var (rows, posts): ([String: JSONText], [String: JSONText]) = ([:], [:])
      for (id, thread) in kept["threads"]?.members ?? [:] {
        var thread = thread.members ?? [:]
        let count = thread["posts"]?.elements?.count ?? 0
        if count > 0 { posts[id] = thread["posts"] }
        thread["posts"] = JSONText(count)
        rows[id] = JSONText(members: thread)
      }
      kept = [
        "threads": JSONText(members: [
          "rows": JSONText(members: rows), "lastID": kept["lastID"] ?? JSONText(0),
        ]), "posts": JSONText(members: posts),
      ]
    }
  ]
}
