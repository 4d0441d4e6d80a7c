import BinderClient
import Glibc
import Wire

/// An exit code of bindctl; scripts rely on the values.
struct ExitCode: RawRepresentable, Equatable {
  let rawValue: CInt

  /// Success, or true.
  static let done = ExitCode(rawValue: 0)
  /// An error reply, or false.
  static let no = ExitCode(rawValue: 1)
  static let usage = ExitCode(rawValue: 2)
  static let noDaemon = ExitCode(rawValue: 3)
  /// No such source, method or view.
  static let notFound = ExitCode(rawValue: 4)
  /// A conflict, a missing permission (also for the socket), or a rule.
  static let refused = ExitCode(rawValue: 5)
  static let lost = ExitCode(rawValue: 6)
  static let bug = ExitCode(rawValue: 70)
  static let timeLimit = ExitCode(rawValue: 124)
  /// The code that a shell shows for a program ended by SIGPIPE.
  static let readerGone = ExitCode(rawValue: 141)
}

extension ExitCode {
  /// Creates the code with which a shell reports that it cannot run a program.
  init(spawn code: CInt) {
    self.init(rawValue: code == ENOENT ? 127 : 126)
  }

  init(_ error: ClientError) {
    self =
      switch error {
      case _ where error.isDenied: .refused
      case .noDaemon: .noDaemon
      case .lost: .lost
      case .timedOut: .timeLimit
      case .closed: .refused
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
