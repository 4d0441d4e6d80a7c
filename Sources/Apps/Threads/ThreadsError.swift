package import Binder

/// An error from reading or changing a thread.
package enum ThreadsError: Rejecting, Equatable, CustomStringConvertible {
  case unknownThread(Int)
  case unknownPost(Int)
  case badName
  case badBody
  case notTheAuthor
  case notTheStarter
  case tooMany(what: String, max: Int)
  /// All ids have been used.
  case noNumberLeft

  package var rejection: Rejection {
    switch self {
    case .unknownThread(let id): .notFound("thread", id).saying(description)
    case .unknownPost(let id): .notFound("post", id).saying(description)
    case .badName: .invalid("name", description)
    case .badBody: .invalid("body", description)
    case .notTheAuthor: .rejected("not_author", description)
    case .notTheStarter: .rejected("not_creator", description)
    case .tooMany, .noNumberLeft: .rejected("too_many", description)
    }
  }

  package var description: String {
    switch self {
    case .unknownThread(let id): "there is no thread \(id)"
    case .unknownPost(let id): "the thread has no post \(id)"
    case .badName:
      "a name has 1 to \(ThreadsService.maxNameLength) characters and no control characters, "
        + "\(ThreadsService.maxNameBytes) bytes at most"
    case .badBody:
      "a post has 1 to \(ThreadsService.maxBodyBytes) bytes and no control characters "
        + "except tab and newline"
    case .notTheAuthor: "only the author of a post can change it"
    case .notTheStarter: "only the user who started a thread can rename or remove it"
    case .tooMany(let what, let max): "there are at most \(max) \(what)"
    case .noNumberLeft: "there is no number left"
    }
  }
}
