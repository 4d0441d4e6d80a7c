/// A discussion: a name, and what was posted, the oldest first.
package struct DiscussionThread: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var posts: [Post] = []

  /// The number of what was posted last.
  var lastPost = 0

  /// The user who has started it; `nil` of threads for which that was not recorded.
  package let starter: UInt32?

  /// The name of who was logged in then; `nil` when nobody was.
  package let starterName: String?

  init(id: Int, name: String, starter: UInt32?, starterName: String?) {
    (self.id, self.name) = (id, name)
    (self.starter, self.starterName) = (starter, starterName)
  }

  /// Whether somebody may rename and remove it: who has started it, or all when nobody knows who
  /// that is.
  func isOf(_ user: UInt32?, _ name: String?) -> Bool {
    if let starterName { return starterName == name }
    return starter == nil || starter == user
  }

  /// Where a post stands.
  ///
  /// Numbers grow from post to post, so that it is found without looking at all of them.
  package func index(of post: Int) -> Int? {
    var (low, high) = (0, posts.count)
    while low < high {
      let middle = (low + high) / 2
      if posts[middle].id < post { low = middle + 1 } else { high = middle }
    }
    return low < posts.count && posts[low].id == post ? low : nil
  }

  mutating func change(at index: Int, _ body: (inout Post) -> Void) { body(&posts[index]) }
}

/// Something that was posted.
package struct Post: Codable, Equatable, Sendable {
  package let id: Int

  /// The user who has posted it.
  package let author: UInt32

  /// The name of who was logged in; `nil` when nobody was.
  package let name: String?
  package var body: String

  /// The users who like it.
  package var likers: Set<UInt32> = []

  package var likes: Int { likers.count }

  /// Whether it is somebody's: of who is named as its author, or of the user when nobody is.
  func isOf(_ user: UInt32, _ name: String?) -> Bool {
    self.name.map { $0 == name } ?? (author == user)
  }

  init(id: Int, author: UInt32, name: String?, body: String) {
    (self.id, self.author, self.name, self.body) = (id, author, name, body)
  }
}

/// What can happen to a thread; the stream is `threads/ID`.
package enum ThreadEvent: ServiceEvent, Codable, Equatable {
  case started(name: String, author: UInt32? = nil, by: String? = nil)
  case renamed(name: String)
  case posted(post: Int, author: UInt32, body: String, name: String? = nil)
  case edited(post: Int, body: String)
  case deleted(post: Int)
  case liked(post: Int, by: UInt32)
  case unliked(post: Int, by: UInt32)
  case removed

  package static var kinds: Set<String> {
    ["started", "renamed", "posted", "edited", "deleted", "liked", "unliked", "removed"]
  }
}
