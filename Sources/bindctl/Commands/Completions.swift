import BinderClient
import Console
import Glibc
import JSON
import Wire

let completionsSyntax = Syntax(
  "completions", "Prints a completion script for a shell.",
  operands: [
    Operand("SHELL", .optional, completes: .words(Syntaxes.shells)), Operand("-- WORD", .any),
  ],
  options: [
    Option("line", value: "LINE", "print the words that can complete LINE, with descriptions"),
    Option("words", "the same for the words after --, of which the last one is completed"),
  ],
  details: """
    The scripts for bash, zsh and fish use --line or --words. They know commands, options, sources,
    methods, views and their arguments, and ask the daemon that the line names with -n, --socket or --host.
    Only words that a shell does not expand are printed.
    """,
  examples: [". <(bindctl completions bash)", "bindctl completions fish | source"])

var completionsCommand: Command {
  Command(completionsSyntax) { context in
    let invocation = context.invocation
    if let line = invocation.value("line") {
      let words = ShellWords(line)
      return complete(words.words.dropFirst() + (words.partial == nil ? [""] : []), context)
    }
    if invocation.has("words") { return complete(invocation.operands, context) }
    let shell = context.operand(0)
    guard let script = context.syntaxes.completions(for: shell), invocation.operands.count == 1
    else {
      throw UsageError(
        shell.isEmpty
          ? "missing argument SHELL: \(Syntaxes.shells.joined(separator: " or "))"
          : "unknown SHELL '\(shell)' (\(Syntaxes.shells.joined(separator: " or ")))",
        command: "completions")
    }
    context.output.line(script)
    return .done
  }
}

/// Prints the words that can complete the last one.
private func complete(_ words: [String], _ context: Context) -> ExitCode {
  let completion = LineCompletion(words, context.syntaxes)
  let completer = Completer(context, completion)
  for candidate in completion.candidates(context.syntaxes, ask: completer.ask) {
    context.output.line(
      candidate.doc.isEmpty ? candidate.word : "\(candidate.word)\t\(candidate.doc)")
  }
  return .done
}

/// Answers the questions of a completion, on a connection that is made for the first one.
final class Completer {
  private let client: BinderClient

  /// The time after which a daemon is no help.
  private static let milliseconds: UInt64 = 1_000

  init(_ context: Context, _ completion: LineCompletion) {
    let daemon = completion.daemon.flatMap { DaemonName($0) }
    let remote = completion.host.map { name in
      try? RemoteHost(name, origin: "--host", socket: completion.socket, daemon: daemon)
    }
    client = Context.client(completion.socket ?? context.socket, daemon, remote ?? context.remote)
    client.limits = AnswerLimits(deadline: Deadline(inMilliseconds: Self.milliseconds))
  }

  /// Returns the answer of the daemon; empty if there is none.
  func ask(_ question: CompletionQuestion) -> [Candidate] {
    (try? answer(question)) ?? []
  }

  private func answer(_ question: CompletionQuestion) throws -> [Candidate] {
    switch question {
    case .sources(let pattern):
      return try client.connected().values(of: pattern).map { Candidate($0.source) }
    case .names:
      let all = try call("describe")
      var names = all.object("services").members.map { Candidate($0.name, $0.value.bare) }
      for service in names.map(\.word) {
        names += try call("describe", ["path": .string(service)]).object("methods").members.map {
          Candidate(service + "." + $0.name, $0.value.object.string("doc") ?? "")
        }
      }
      return names + all.object("methods").members.map { Candidate($0.name, $0.value.bare) }
    case .views:
      return try call("describe").array("views").map(\.object).map {
        Candidate($0.string("name") ?? "", $0.string("doc") ?? "")
      }
    case .methodArguments(let method):
      return arguments(try call("describe", ["path": .string(method)]).array("params"))
    case .viewArguments(let view):
      let views = try call("describe").array("views").map(\.object)
      return arguments(views.first { $0.string("name") == view }?.array("args") ?? [])
    case .bindings:
      return try call("bindings.list").array("value").map(\.object).map {
        Candidate($0["binding"]?.bare ?? "", $0.string("expr") ?? "")
      }
    case .connections:
      let values = try client.connected().values(of: "daemon/connections")
      guard case .array(let rows)? = values.first?.value else { return [] }
      return rows.map(\.object).map { row in
        Candidate(
          row["id"]?.bare ?? "",
          [row["client"], row["program"]].compactMap { $0?.bare }.first ?? "")
      }
    case .daemons: return daemons
    }
  }

  /// The daemons of this machine with a socket where it usually is.
  private var daemons: [Candidate] {
    ["/run", variable("XDG_RUNTIME_DIR") ?? ""].filter { $0.hasPrefix("/") }.flatMap { parent in
      Self.names(in: parent).filter { access("\(parent)/\($0)/bus.sock", F_OK) == 0 }
        .compactMap { DaemonName($0) }
        .map { Candidate($0.text, "\(parent)/\($0.directory)/bus.sock") }
    }
  }

  private static func names(in directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      names.append(
        withUnsafePointer(to: &entry.pointee.d_name) {
          $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        })
    }
    return names.sorted()
  }

  private func call(_ method: String, _ params: JSONObject = [:]) throws -> JSONObject {
    try client.call(method, params).object
  }

  /// Returns arguments as a user types them.
  private func arguments(_ parameters: [JSONValue]) -> [Candidate] {
    parameters.map(\.object).map { parameter in
      let sign = parameter.string("type") == "string" ? "=" : ":="
      return Candidate((parameter.string("name") ?? "") + sign, parameter.string("doc") ?? "")
    }
  }
}
