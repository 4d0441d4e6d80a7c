import BinderClient
import Glibc
import JSON
import Wire

/// A reason to end that is neither a wrong command line nor an answer of the daemon.
struct Failure: Error {
  let message: String
  let code: ExitCode

  init(_ message: String, _ code: ExitCode = .no) {
    self.message = message
    self.code = code
  }
}

extension ClientError {
  /// One sentence: what is wrong, where, and the next step.
  ///
  /// - Parameter isWrite: Whether a request was to change something.
  func forPeople(isWrite: Bool) -> String {
    switch self {
    case .noDaemon(let attempts): "\(self); \(Self.nextStep(attempts))"
    case .lost where isWrite:
      "\(self); whether the request was run is unknown, so look before you repeat it"
    case .timedOut: "the daemon has not answered in time; give it more with -t"
    case .refused(let error): error.message + (error.nextStep.map { "; \($0)" } ?? "")
    default: description
    }
  }

  private static func nextStep(_ attempts: [Attempt]) -> String {
    if attempts.contains(where: { $0.code == EACCES || $0.code == EPERM }) {
      return "ask its owner, or name one that you may open with --socket PATH"
    }
    return "start one with: binderd --socket \(attempts.first?.place.path ?? "PATH")"
  }
}

extension WireError {
  /// What may help.
  fileprivate var nextStep: String? {
    if case .string(let guess)? = data["did_you_mean"] { return "did you mean '\(guess)'?" }
    switch name {
    case .methodNotFound, .notFound: return "'bindctl services' shows what there is"
    case .conflict: return "read it again before you set it"
    case .internalError:
      guard case .string(let reference)? = data["ref"] else { return nil }
      return "the daemon's log says more under \(reference)"
    case .epochMismatch: return "the journal was replaced: begin anew"
    default: return nil
    }
  }
}
