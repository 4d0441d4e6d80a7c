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
  /// - Parameters:
  ///   - command: Which command has asked; `nil` for none.
  ///   - isWrite: Whether a request was to change something.
  func forPeople(of command: String?, isWrite: Bool) -> String {
    switch self {
    case .noDaemon(let attempts): "\(self); \(Self.nextStep(attempts))"
    case .lost where isWrite:
      "\(self); whether the request was run is unknown, so look before you repeat it"
    case .lost(reason: "permission_denied"):
      "the daemon does not let this user in: no role of its configuration is his; ask who runs it"
    case .timedOut: "the daemon has not answered in time; give it more with -t"
    case .refused(let error):
      error.message + (error.nextStep(after: command).map { "; \($0)" } ?? "")
    default: description
    }
  }

  private static func nextStep(_ attempts: [Attempt]) -> String {
    if let denied = attempts.first(where: \.isDenied) {
      return "\(Self.owner(of: denied.place.path)); become a member of that group, ask the owner,"
        + " or name one that you may open with --socket PATH"
    }
    return "start one with: binderd --socket \(attempts.first?.place.path ?? "PATH")"
  }
}

extension ClientError.Attempt {
  /// Whether somebody may be there who is not to be seen.
  var isDenied: Bool { code == EACCES || code == EPERM }
}

extension ClientError {
  /// Whose a file is, or the first directory above it that can be looked at, and who may open it.
  private static func owner(of path: String) -> String {
    var path = path
    var status = stat()
    while stat(path, &status) != 0 {
      guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return path }
      path = String(path[..<slash])
    }
    let user = getpwuid(status.st_uid).map { String(cString: $0.pointee.pw_name) }
    let group = getgrgid(status.st_gid).map { String(cString: $0.pointee.gr_name) }
    let mode = String(status.st_mode & 0o7777, radix: 8)
    return "\(path) belongs to user \(user ?? "\(status.st_uid)") and group "
      + "\(group ?? "\(status.st_gid)"), mode 0\(mode)"
  }
}

extension WireError {
  /// What may help.
  fileprivate func nextStep(after command: String?) -> String? {
    if case .string(let guess)? = data["did_you_mean"] { return "did you mean '\(guess)'?" }
    switch name {
    case .notFound where data["what"] == .string("view"):
      return "'bindctl views' shows what there is"
    case .methodNotFound, .notFound: return "'bindctl services' shows what there is"
    case .invalidParams where command == "call" || command == "open":
      return typedArgument.map { "what is no text stands behind ':=', as in \($0)" }
    case .conflict: return "read it again before you set it"
    case .internalError:
      guard case .string(let reference)? = data["ref"] else { return nil }
      return "the daemon's log says more under \(reference)"
    case .epochMismatch: return "the journal was replaced: begin anew"
    default: return nil
    }
  }

  /// How the argument that is wrong is typed, when it was a text and should be something else.
  private var typedArgument: String? {
    guard data["got"] == .string("string"), case .string(let expected)? = data["expected"],
      case .string(let path)? = data["path"]
    else { return nil }
    // Arguments of a view stand one deeper.
    let words = path.split(separator: "/")
    guard let name = words.last, words.count == 1 || words.count == 2 && words[0] == "args" else {
      return nil
    }
    switch expected {
    case "integer", "number": return "\(name):=1"
    case "boolean": return "\(name):=true"
    case "array": return "\(name):='[…]'"
    case "object": return "\(name):='{…}'"
    default: return nil
    }
  }
}
