internal import Signals

/// A discussion thread; its posts are in ``Threads/posts``.
package struct DiscussionThread: Codable, Equatable, Sendable {
  package let id: Int
  package var name: String

  /// The number of its posts.
  package var posts = 0

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
}

/// A thread as clients see it.
package struct ThreadRow: Codable, ListRow, Sendable {
  let id: Int
  let name: String
  let posts: Int

  package init(_ id: Int, _ thread: DiscussionThread) {
    (self.id, name, posts) = (id, thread.name, thread.posts)
  }
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

/// A post as its source shows it.
package struct ShownPost: Codable, Rendering, Sendable {
  let id: Int
  let author: UInt32
  let name: String?
  let body: String
  let likes: Int

  package init(_ post: Post) {
    (id, author, name) = (post.id, post.author, post.name)
    (body, likes) = (post.body, post.likes)
  }
}

extension [Post] {
  /// Returns the index of a post, or `nil` if it does not exist.
  ///
  /// Uses a binary search, because ids ascend.
  package func index(of post: Int) -> Int? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].id < post { low = middle + 1 } else { high = middle }
    }
    return low < count && self[low].id == post ? low : nil
  }
}
