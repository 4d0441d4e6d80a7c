package import EventSourcing

/// An error from reading or changing a thread.
package enum ThreadsError: ServiceError, Equatable {
  case unknownThread(Int)
  case unknownPost(Int)
  case badName
  case badBody
  case notTheAuthor
  case notTheStarter
  case tooMany(what: String, max: Int)
  /// All ids have been used.
  case noNumberLeft

  /// The caller has no valid user name.
  case user(UsersError)

  package var kind: ServiceErrorKind {
    switch self {
    case .unknownThread(let id): .notFound(what: "thread", id: "\(id)")
    case .unknownPost(let id): .notFound(what: "post", id: "\(id)")
    case .badName: .invalid(parameter: "name", expected: description)
    case .badBody: .invalid(parameter: "body", expected: description)
    case .notTheAuthor: .rejected(reason: "not_author")
    case .notTheStarter: .rejected(reason: "not_creator")
    case .tooMany, .noNumberLeft: .rejected(reason: "too_many")
    case .user(let error): error.kind
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
    case .user(let error): "\(error)"
    }
  }
}
