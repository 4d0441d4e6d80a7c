import BinderClient
import Wire

/// What bindctl ends with; scripts rely on it.
enum ExitCode: Int32 {
  /// Done, or true.
  case done = 0
  /// Answered with an error, or false.
  case no = 1
  case usage = 2
  case noDaemon = 3
  /// No such source, method or view.
  case notFound = 4
  /// A conflict, a permission, a rule.
  case refused = 5
  case lost = 6
  case bug = 70
  case timeLimit = 124
  /// What a shell shows for a program that SIGPIPE has ended.
  case readerGone = 141

  init(_ error: ClientError) {
    self =
      switch error {
      case .noDaemon: .noDaemon
      case .lost: .lost
      case .timedOut: .timeLimit
      case .readerGone: .readerGone
      case .notUnderstood, .unknownError: .no
      case .refused(let error): ExitCode(error.name)
      }
  }

  private init(_ error: ErrorName) {
    self =
      switch error {
      case .methodNotFound, .notFound: .notFound
      case .conflict, .permissionDenied, .rejected, .invalidParams, .alreadyExists, .cmdReused:
        .refused
      default: .no
      }
  }
}
