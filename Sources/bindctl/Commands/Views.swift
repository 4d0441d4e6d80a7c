import BinderClient
import Console
import Glibc
import JSON
import Wire

let viewsSyntax = Syntax(
  "views", "Lists the views that can be opened.",
  details: "'bindctl open VIEW' opens one.")

var viewsCommand: Command {
  Command(viewsSyntax) { context in
    let answer = try context.client.call("describe").object
    guard case .array(let views)? = answer["views"] else { return .done }
    var table = Table(["VIEW", "DESCRIPTION"])
    for case .object(let view) in views {
      let name = view["name"]?.bare ?? ""
      if context.output.form == .human {
        let words = [name] + arguments(view, "args")
        table.add([words.joined(separator: " "), view["doc"]?.bare ?? ""])
      } else {
        context.output.result(view, bare: .string(name), human: "")
      }
    }
    if context.output.form == .human { context.output.table(table, wraps: true) }
    return .done
  }
}

let viewSyntax = Syntax(
  "view", "Checks a view in a file, and lists all its faults with line and column.",
  operands: [Operand("check", choices: ["check"]), Operand("FILE", .some)],
  details: """
    The daemon checks it, because it knows the methods, sources and transformers. 'bindctl open ./FILE'
    opens it, and 'bindctl open --follow FILE' shows each saved version. A fault makes the exit code 5.
    A view to which FILE leads may be one of the daemon, another FILE, or NAME.view beside FILE.
    'bindctl help open' says more; Documentation/views-in-a-file.md has the language.
    """,
  examples: ["bindctl view check thermostat.view"])

var viewCommand: Command {
  Command(viewSyntax) { context in
    var isFaulty = false
    let paths = context.invocation.operands.dropFirst()
    let texts = try paths.map { (path: $0, text: try text(of: $0)) }
    // The files of a directory lead to each other.
    for (path, text) in texts {
      var params: JSONObject = [
        "text": .string(text), "name": .string(FollowedFile.viewName(of: path)),
      ]
      var others = JSONObject()
      for (other, its) in texts where other != path {
        let name = FollowedFile.viewName(of: other)
        if text.contains("=> \(name)") { others[name] = .string(its) }
      }
      if !others.members.isEmpty { params["with"] = .object(others) }
      var answer = try context.client.call("check_view", params).object
      let found = try filesBeside(path, missing: answer.array("faults"))
      if !found.isEmpty {
        for file in found { others[file.view] = .string(file.text) }
        params["with"] = .object(others)
        answer = try context.client.call("check_view", params).object
      }
      var lines = answer.array("faults").map { $0.explained(in: path).place(in: path) }
      if !lines.isEmpty { isFaulty = true }
      let together =
        found.isEmpty ? "" : " together with " + found.map(\.path).joined(separator: ", ")
      lines += answer.array("warnings").map { "warning: " + $0.place(in: path) }
      if !lines.contains(where: { !$0.hasPrefix("warning") }) {
        lines.append("\(path) is valid\(together)")
      }
      context.output.result(
        answer, bare: .string(lines.joined(separator: "\n")),
        human: lines.map { $0.harmless() }.joined(separator: "\n"))
    }
    return isFaulty ? .refused : .done
  }
}

/// Returns the files beside another one with the views that its faults miss, once each.
private func filesBeside(
  _ file: String, missing faults: [JSONValue]
) throws -> [(view: String, path: String, text: String)] {
  let views = Set(faults.compactMap { $0.object.string("message").flatMap(missingView) })
  return try views.sorted().compactMap { view in
    let path = pathBeside(file, of: view)
    return access(path, R_OK) == 0 ? (view, path, try text(of: path)) : nil
  }
}

extension JSONValue {
  /// Returns a fault with the places where a view that it misses was looked for.
  fileprivate func explained(in file: String) -> JSONValue {
    var fault = object
    // Otherwise it says which view was probably meant.
    guard let message = fault.string("message"), let view = missingView(message),
      message.hasSuffix("'\(view)'")
    else { return self }
    fault["message"] = .string(
      "\(message): the daemon has none, and there is no file \(pathBeside(file, of: view)); "
        + "if it is elsewhere, give its file too")
    return .object(fault)
  }

  /// The text of a fault in a file: `file:line:column: message`.
  fileprivate func place(in file: String) -> String {
    guard case .object(var fault) = self else { return "" }
    fault["file"] = .string(file)
    return JSONValue.object(fault).place
  }
}

let openSyntax = Syntax(
  "open", "Opens a view, which shows live values and offers actions (intents).",
  operands: [Operand("VIEW", .optional), Operand("ARG", .any)],
  options: [
    Option("follow", "VIEW is a file; show each version of it that is saved"),
    noReconnectOption, waitDaemonOption,
  ],
  details: """
    ARG is name=text or name:=json. Without VIEW, lists the views with their arguments. A VIEW with a '/'
    or '.view' is a file with a view of your own, which needs no installation. The files of views to which
    it leads follow it.

    In a terminal, a view whose main intent takes a text has its field open: type, and enter sends.
    Escape leaves the field; then the last lines say which key sends which intent. Arrows choose a row,
    enter sends the main intent, space shows the whole row, escape goes back, ? lists all keys, q quits.
    Intents that remove something ask first. Pasted text is always text, never keys. After a restart of
    the daemon, bindctl logs in again and reopens the front view; typed text stays.

    With -j, or if stdin or stdout is not a terminal, input and output are lines of JSON. Output: the
    view, then {"next":…}, {"opened":…}, {"closed":…} and {"answer":…}. If the daemon is lost,
    {"lost":{"reason":…,"unanswered":[…]}} is printed, and the view again after the reconnect. Input:
    {"intent":NAME,"args":{…},"view":HANDLE} and {"close":HANDLE}; "view" defaults to the first view.
    After the end of stdin, bindctl waits for the answers and exits.
    """,
  examples: [
    "bindctl open system", "bindctl open cell name=lamp", "bindctl open ./thermostat.view",
    "bindctl open rooms.view booking.view",
    #"echo '{"intent":"toggle"}' | bindctl open cell name=lamp"#,
  ])

var openCommand: Command {
  Command(openSyntax) { context in
    guard !context.invocation.operands.isEmpty else { return try viewsCommand.run(context) }
    let name = context.operand(0)
    let isFollowed = context.invocation.has("follow")
    var params: JSONObject = ["binder": .string(name)]
    var file: FollowedFile?
    var others = JSONObject()
    var words = context.invocation.operands.dropFirst()
    if isFollowed || name.contains("/") || name.hasSuffix(".view") {
      params["binder"] = .string(FollowedFile.viewName(of: name))
      params["text"] = .string(try text(of: name))
      if isFollowed { file = FollowedFile(name) }
      while let other = words.first, other.hasSuffix(".view"), !other.contains("=") {
        others[FollowedFile.viewName(of: other)] = .string(try text(of: other))
        words.removeFirst()
      }
    }
    if !others.members.isEmpty { params["with"] = .object(others) }
    var arguments = JSONObject()
    for word in words { try arguments.add(word: word, command: "open") }
    if !arguments.members.isEmpty { params["args"] = .object(arguments) }
    let link = try ViewLink(
      context.client, open: params, reconnects: !context.invocation.has("no-reconnect"))
    do {
      if context.output.form == .human, let terminal = Terminal() {
        return try ViewTerminal(link, terminal, context.output.style, following: file).run()
      }
      return try ViewPipe(link, context.output, context.client, following: file).run()
    } catch let error as ClientError {
      throw failure(error, in: context.invocation.operands) ?? error
    }
  }
}

/// Returns the failure for a file with faults: its first one, with line and column; `nil` for another
/// error.
///
/// - Parameter operands: The files, and what follows them.
private func failure(_ error: ClientError, in operands: [String]) -> Failure? {
  guard case .refused(let refusal) = error, refusal.data.string("reason") == "bad_view",
    case .object(let first)? = refusal.data.array("faults").first
  else { return nil }
  let more = refusal.data.array("faults").count - 1
  let name = first.string("file") ?? ""
  let file = operands.first { FollowedFile.viewName(of: $0) == name } ?? operands[0]
  var text = JSONValue.object(first).place(in: file) + (more > 0 ? ", and \(more) more" : "")
  if let other = fileBeside(file, missing: first.string("message") ?? "") {
    let files = operands.filter { $0.hasSuffix(".view") && !$0.contains("=") } + [other]
    text += "; give its file too: \(bindctlCommand) open " + files.joined(separator: " ")
  }
  return Failure(text, .refused)
}

/// Returns the file beside another one with the view that a message says is missing; `nil` if there is
/// none.
private func fileBeside(_ file: String, missing message: String) -> String? {
  guard let path = missingView(message).map({ pathBeside(file, of: $0) }) else { return nil }
  return access(path, R_OK) == 0 ? path : nil
}

/// Returns the name of the view that a message says is missing; `nil` if it says something else.
private func missingView(_ message: String) -> String? {
  let start = "no view '"
  guard message.hasPrefix(start) else { return nil }
  return String(message.dropFirst(start.count).prefix { $0 != "'" })
}

/// Returns the path of the file that a view has in the directory of another file.
private func pathBeside(_ file: String, of view: String) -> String {
  let directory = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
  return "\(directory)\(view).view"
}
