import BinderClient
import Glibc
import JSON
import Wire

/// An error that is neither a usage error nor a reply of the daemon.
struct Failure: Error {
  let message: String
  let code: ExitCode

  init(_ message: String, _ code: ExitCode = .no) {
    self.message = message
    self.code = code
  }
}

/// The failed request.
struct Asked {
  /// The command; `nil` for none.
  let command: String?
  let operands: [String]

  /// Returns the daemon's description of a service or method, or of everything for an empty name;
  /// `nil` if it does not exist.
  let describe: (String) -> JSONObject?

  /// Returns whether the daemon has a service with a name.
  fileprivate func hasService(_ name: String) -> Bool { describe(name)?["service"] != nil }

  /// The names of the services of the daemon.
  fileprivate var services: [String] {
    guard case .object(let services)? = describe("")?["services"] else { return [] }
    return services.members.map(\.name)
  }

  /// The description of the view that was opened; `nil` for another request.
  private var view: JSONObject? {
    guard command == "open", case .array(let views)? = describe("")?["views"] else { return nil }
    return views.lazy.map(\.object).first { $0.string("name") == operands.first }
  }

  /// The service of the called method or of the opened view; `nil` for another request.
  fileprivate var service: String? {
    command == "call"
      ? operands.first?.split(separator: ".").first.map(String.init) : view?.string("service")
  }

  /// The request with all arguments that it needs, as a user types it; `nil` if it is unknown.
  fileprivate var example: String? {
    let described = command == "call" ? operands.first.flatMap(describe) : view
    guard let command, let name = operands.first, let described else { return nil }
    let words = arguments(described, command == "call" ? "params" : "args")
      .filter { !$0.hasPrefix("[") }
    return ([bindctlCommand, command, name] + words).joined(separator: " ")
  }

  /// A message about the first unknown argument of a call or a view, with a suggestion; `nil` if all
  /// are known.
  fileprivate var unknownArgument: String? {
    let described =
      command == "call" ? operands.first.flatMap(describe)?["params"] : view?["args"]
    guard case .array(let parameters)? = described else { return nil }
    let known = parameters.compactMap { parameter -> String? in
      if case .object(let parameter) = parameter { parameter.string("name") } else { nil }
    }
    let given = operands.dropFirst().compactMap { word in
      word.firstIndex(of: "=").map { word[..<$0] }
    }
    .map { String($0.last == ":" ? $0.dropLast() : $0) }
    guard let unknown = given.first(where: { !known.contains($0) }) else { return nil }
    let guess = nearest(to: unknown, among: known).map { "; did you mean '\($0)'?" } ?? ""
    return "unknown parameter '\(unknown)'" + guess
  }

  /// Whether the command goes on until somebody ends it, so that its end is no fault of the daemon.
  fileprivate var isEndless: Bool { command == "watch" || command == "events" }

  /// Whether the request may have changed something.
  var isWrite: Bool {
    command.map { ["set", "remove", "call", "undo", "atomic"].contains($0) } ?? false
  }
}

/// Returns the arguments of a view or the parameters of a method, as a user types them.
///
/// Optional ones are in brackets.
func arguments(_ described: JSONObject, _ member: String) -> [String] {
  guard case .array(let arguments)? = described[member] else { return [] }
  return arguments.compactMap { argument in
    guard case .object(let argument) = argument, let name = argument.string("name") else {
      return nil
    }
    let word = name + (argument["type"] == .string("string") ? "=" : ":=") + "…"
    return argument["optional"] == .bool(true) ? "[\(word)]" : word
  }
}

extension ClientError {
  /// The reason why the daemon has closed the connection of a user without a role.
  static let noRole =
    "permission denied: no role in the daemon's configuration includes this user"

  /// Returns one sentence: the error, its place, and the next step.
  func forPeople(_ asked: Asked) -> String {
    let isWrite = asked.isWrite
    return switch self {
    case .noDaemon(let attempts): "\(self); \(Self.nextStep(attempts))"
    case .lost(reason: "permission_denied"): "\(Self.noRole); ask its administrator"
    case .lost(reason: "kicked"):
      "an administrator has ended this connection with 'bindctl kick'"
    case .lost where isWrite:
      "\(self); the request may have been run; check before you repeat it"
    case .timedOut where isWrite:
      "the daemon did not answer in time; the request may have been run; use -t TIME to wait longer"
    case .timedOut where asked.isEndless: "the time is over; use -t TIME to wait longer"
    case .timedOut: "the daemon did not answer in time; use -t TIME to wait longer"
    case .refused(let error):
      error.shownMessage(after: asked) + (error.nextStep(after: asked).map { "; \($0)" } ?? "")
    default: description
    }
  }

  private static func nextStep(_ attempts: [Attempt]) -> String {
    if let attempt = attempts.first, attempt.place.origin == RemoteHost.origin {
      return "try: ssh \(attempt.place.path) bindctl doctor"
    }
    return SocketAdvice(attempts).nextStep
  }
}

extension WireError {
  /// The place of the refused call of an `atomic`, from 0, and the message without it; `nil` for
  /// other errors.
  var refusedCall: (place: Int, message: String)? {
    guard case .number(let index)? = data["index"],
      let place = index.int64.flatMap({ Int(exactly: $0) })
    else { return nil }
    let prefix = "call \(place): "
    guard message.hasPrefix(prefix) else { return nil }
    return (place, String(message.dropFirst(prefix.count)))
  }

  /// Returns the message; it counts the steps of `bindctl atomic` from 1, as its user does.
  fileprivate func shownMessage(after asked: Asked) -> String {
    guard let call = refusedCall else { return message }
    return switch asked.command {
    case "atomic": "step \(call.place + 1): \(call.message)"
    // With a condition it is an `atomic` of one call.
    case "publish": call.message
    default: message
    }
  }

  /// Returns a suggestion for the user; `nil` if there is none.
  fileprivate func nextStep(after asked: Asked) -> String? {
    let command = asked.command
    if let meant = meantComparison { return "did you mean '\(meant)'?" }
    if name == .notFound, command == "bind", case .string(let source)? = data["id"] {
      if source.contains("*") {
        return "a binding has no pattern; list its sources, as in (cells/a, cells/b)"
      }
      if source.hasPrefix("bindings/") { return "your role may not make bindings of the daemon" }
    }
    if case .string(let guess)? = data["did_you_mean"] { return "did you mean '\(guess)'?" }
    switch name {
    case .notFound where data["what"] == .string("connection"):
      return "'\(bindctlCommand) ps' lists the connections"
    case .notFound where data["what"] == .string("view"):
      return "'\(bindctlCommand) views' lists the views"
    case .notFound:
      guard let service = service(of: asked), asked.hasService(service) else {
        return guess(asked) ?? "'\(bindctlCommand) services' lists the services"
      }
      return "'\(bindctlCommand) get \"\(service)/**\"' lists those that exist"
    case .methodNotFound: return "'\(bindctlCommand) services' lists the services"
    case .invalidParams where command == "call" || command == "open":
      // Unless the daemon has named it already.
      if let unknown = asked.unknownArgument, data["expected"] != .string("no such member") {
        return unknown
      }
      if message.hasPrefix("missing parameter"), let example = asked.example {
        return "for example: \(example)"
      }
      if data["got"] == .string("nothing"), let typed = typedArgument {
        return "write it behind the view: \(typed)"
      }
      return typedArgument.map { "use ':=' for values other than text, as in \($0)" }
    case .invalidParams where command == "service":
      return typedArgument.map { "use ':=' for values other than text, as in \($0)" }
    case .conflict: return "read it again before you set it"
    case .rejected where data["reason"] == .string("changed_since"):
      return "--preview shows all changes, --force overwrites it"
    case .rejected where message.hasPrefix("source 'live/"):
      return "'\(bindctlCommand) publish' sets live values"
    case .invalidParams where command == "ack" && data["path"] == .string("/share"):
      return "'\(bindctlCommand) work' acknowledges its events"
    case .alreadyExists where data["what"] == .string("reader"): return "--steal takes it over"
    case .internalError:
      guard case .string(let reference)? = data["ref"] else { return nil }
      return "search the daemon's log for \(reference)"
    case .epochMismatch: return "the journal was replaced: older positions are invalid"
    default: return nil
    }
  }

  /// Returns a suggestion for a source whose service does not exist; `nil` if there is none.
  ///
  /// A single word is the name of a cell without its service.
  private func guess(_ asked: Asked) -> String? {
    guard data["what"] == .string("source"), case .string(let source)? = data["id"],
      !source.contains("*")
    else { return nil }
    guard let slash = source.firstIndex(of: "/") else {
      guard asked.hasService("cells") else { return nil }
      return "did you mean 'cells/\(source)'? A name begins with its service"
    }
    return nearest(to: String(source[..<slash]), among: asked.services)
      .map { "did you mean '\($0)\(source[slash...])'?" }
  }

  /// The condition with `==` for a name that has a single `=`; `nil` for other names.
  private var meantComparison: String? {
    guard name == .notFound, case .string(let source)? = data["id"] else { return nil }
    let words = source.split(separator: " ")
    guard words.count > 2, words[1] == "=" else { return nil }
    return "\(words[0]) == \(words[2...].joined(separator: " "))"
  }

  /// Returns the service in which a name was not found; `nil` if it is unknown.
  private func service(of asked: Asked) -> String? {
    if data["what"] == .string("source"), case .string(let source)? = data["id"] {
      return source.split(separator: "/").first.map(String.init)
    }
    return asked.service
  }

  /// The correct form of an argument that was a text but must have another type.
  private var typedArgument: String? {
    guard case .string(let got)? = data["got"], ["string", "a string", "nothing"].contains(got),
      case .string(let expected)? = data["expected"], case .string(let path)? = data["path"]
    else { return nil }
    // The arguments of a view are nested one level deeper.
    let words = path.split(separator: "/")
    guard let name = words.last, words.count == 1 || words.count == 2 && words[0] == "args" else {
      return nil
    }
    // With or without its article.
    switch expected.split(separator: " ").last.map(String.init) ?? expected {
    case "string" where got == "nothing": return "\(name)=TEXT"
    case "integer", "number": return "\(name):=1"
    case "boolean": return "\(name):=true"
    case "array": return "\(name):='[…]'"
    case "object": return "\(name):='{…}'"
    default: return nil
    }
  }
}

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
      case .lost, .sessionEnded: .lost
      case .timedOut: .timeLimit
      case .closed: .refused
      case .readerGone: .readerGone
      case .notUnderstood, .unknownError, .outcomeUnknown: .no
      case .refused(let error): ExitCode(error.name)
      }
  }

  private init(_ error: ErrorName) {
    self =
      switch error {
      case .methodNotFound, .notFound: .notFound
      case .conflict, .permissionDenied, .rejected, .invalidParams, .alreadyExists, .cmdReused,
        .notBindable, .bindingCycle:
        .refused
      default: .no
      }
  }
}
