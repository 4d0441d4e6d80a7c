internal import EventSourcing

/// A discussion thread: a name and its posts, the oldest first.
package struct DiscussionThread: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String
  package var posts: [Post] = []

  /// The id of the last post.
  var lastPost = 0

  /// The uid of the user who started it; `nil` if not recorded.
  package let starter: UInt32?

  /// The user name of the starter; `nil` if they were not logged in.
  package let starterName: String?

  init(id: Int, name: String, starter: UInt32?, starterName: String?) {
    (self.id, self.name) = (id, name)
    (self.starter, self.starterName) = (starter, starterName)
  }

  /// Returns whether a user may rename and remove the thread: its starter, or everybody if the
  /// starter is unknown.
  func isOf(_ user: UInt32?, _ name: String?) -> Bool {
    if let starterName { return starterName == name }
    return starter == nil || starter == user
  }

  /// Returns the index of a post, or `nil` if it does not exist.
  ///
  /// Uses a binary search, because ids ascend.
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

/// A post in a thread.
package struct Post: Codable, Equatable, Sendable {
  package let id: Int

  /// The uid of the author.
  package let author: UInt32

  /// The user name of the author; `nil` if they were not logged in.
  package let name: String?
  package var body: String

  /// The uids of the users who like it.
  package var likers: Set<UInt32> = []

  package var likes: Int { likers.count }

  /// Returns whether the post belongs to a user: by name if it has one, otherwise by uid.
  func isOf(_ user: UInt32, _ name: String?) -> Bool {
    self.name.map { $0 == name } ?? (author == user)
  }

  init(id: Int, author: UInt32, name: String?, body: String) {
    (self.id, self.author, self.name, self.body) = (id, author, name, body)
  }
}

/// The events of a thread; the stream is `threads/ID`.
package enum ThreadEvent: ServiceEvent, Codable, Equatable {
  case started(name: String, author: UInt32? = nil, by: String? = nil)
  case renamed(name: String)
  case posted(post: Int, author: UInt32, body: String, name: String? = nil)
  case edited(post: Int, body: String)
  case postRemoved(post: Int)
  case liked(post: Int, by: UInt32)
  case unliked(post: Int, by: UInt32)
  case removed

  /// The words of the event types in the journal and on the wire.
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case started, renamed, posted, edited
    case postRemoved = "post_removed"
    case liked, unliked, removed
  }

  package static var kinds: Set<String> { Set(CodingKeys.allCases.map(\.rawValue)) }
}
