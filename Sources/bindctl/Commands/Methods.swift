import BinderClient
import Console
import JSON
import Model
import Wire

let servicesSyntax = Syntax(
  "services", "Lists the services of the daemon.",
  details: "'bindctl describe SERVICE' describes one.")

var servicesCommand: Command {
  Command(servicesSyntax) { context in
    let answer = try context.client.call("describe").object
    guard case .object(let services)? = answer["services"] else { return .done }
    var table = Table(["SERVICE", "DESCRIPTION"])
    for service in services.members {
      if context.output.form == .human {
        table.add([service.name, service.value.bare])
      } else {
        context.output.result(
          ["service": .string(service.name), "doc": service.value], bare: .string(service.name),
          human: "")
      }
    }
    if context.output.form == .human { context.output.table(table, wraps: true) }
    return .done
  }
}

let describeSyntax = Syntax(
  "describe",
  "Describes a service, method or source; without PATH, lists the daemon's own methods.",
  operands: [Operand("PATH", .optional)],
  options: [
    Option("names", "list the names of all services and methods, one per line"),
    Option("types", "list the types of values, of files and declared ones"),
    Option("set", value: "TYPE", "declare the type of the values of PATH"),
    Option("unset", "remove the declared type of PATH"),
  ],
  details: """
    TYPE is a kind (any, boolean, number, integer, string, list, object), and between commas a unit and
    a title in quotes, a range, digits N, one of TEXT TEXT, and silent TIME. PATH is then a source of
    cells, lists, maps, services or live, or a pattern such as 'cells/*/celsius'. A value that does not fit is
    refused. The type of a list or a map is that of each element; maps/NAME/KEY is that of one key.
    Types can also be declared in files, types.d/*.types beside the configuration: PATH: TYPE.
    """,
  examples: [
    "bindctl describe cells", "bindctl describe cells.add", "bindctl describe system/load",
    #"bindctl describe cells/hall/celsius --set 'number, "°C", -40…60, "Hall"'"#,
  ])

var describeCommand: Command {
  Command(describeSyntax) { context in
    if context.invocation.has("names") {
      for name in try names(context.client) { context.output.line(name) }
      return .done
    }
    let path = context.invocation.operands.first
    if let done = try changeTypes(context, path) { return done }
    let answer = try context.client.call(
      "describe", path.map { ["path": .string($0)] } ?? [:]
    ).object
    var text = Description(context.output).text(answer)
    if answer["method"] == .string("bind"), context.output.form == .human {
      let transformers = Transformers(try context.client.call("describe").object)
      text += "\n\n" + context.output.style.bold("transformers") + "\n"
      text += transformers.text(width: context.output.width)
    }
    context.output.result(answer, bare: nil, human: text)
    return .done
  }
}

/// Lists, declares or removes types; `nil` if the command line does not ask for it.
private func changeTypes(_ context: Context, _ path: String?) throws -> ExitCode? {
  let type = context.invocation.value("set")
  let isRemoval = context.invocation.has("unset")
  let isList = context.invocation.has("types")
  guard type != nil || isRemoval || isList else { return nil }
  guard [type != nil, isRemoval, isList].count(where: \.self) == 1 else {
    throw UsageError("--types, --set and --unset cannot be used together", command: "describe")
  }
  if isList {
    let types = try context.client.call("types.list").object.array("value").map(\.object)
    var table = Table(["SOURCES", "TYPE", "FILE"])
    for one in types {
      let place = one.string("file").map { "\($0):\(one["line"]?.bare ?? "")" } ?? ""
      if context.output.form == .human {
        table.add([one.string("pattern") ?? "", one.string("type") ?? "", place])
      } else {
        context.output.result(one, bare: one["type"], human: "")
      }
    }
    if context.output.form == .human, !types.isEmpty { context.output.table(table) }
    return .done
  }
  guard let path else {
    throw UsageError("missing argument PATH", command: "describe")
  }
  guard let type else {
    let result = try context.client.call("types.remove", ["pattern": .string(path)]).object
    let was = result["value"] == .bool(true)
    context.output.result(result, bare: result["value"], human: "")
    if !was { note("'\(path)' has no declared type") }
    return was ? .done : .no
  }
  let result = try context.client.call(
    "types.set", ["pattern": .string(path), "type": .string(type)]
  ).object
  context.output.result(
    result, bare: result["value"], human: "\(path): \(result["value"]?.bare ?? "")")
  try showMisfits(path, result.string("value") ?? type, context)
  return .done
}

/// Shows the present values that do not fit a type which was declared now, of those that the role may
/// read.
private func showMisfits(_ pattern: String, _ type: String, _ context: Context) throws {
  let connection = try context.client.connected()
  var types = context.types
  // The role may not be allowed to list them.
  if types.isEmpty { types = KnownTypes([(pattern, type)]) }
  var misfits: [(source: String, rule: String)] = []
  do throws(ClientError) {
    for (source, value) in try connection.values(ofType: pattern) {
      let parts = types.parts(of: source, value).filter { part in
        pattern.contains("*") || part.path == pattern
      }
      for part in parts {
        guard let rule = part.type.fault(of: part.value.text) else { continue }
        misfits.append((part.path, rule))
        break
      }
    }
  } catch {
    return note("the present values were not compared with the type: \(error)")
  }
  for (source, rule) in misfits.prefix(5) {
    note(
      "'\(source)' has a value that does not fit, which stays until the next write: it takes \(rule)"
    )
  }
  if misfits.count > 5 { note("\(misfits.count - 5) more values do not fit") }
}

extension BinderConnection {
  /// Returns the present values of the sources of a type's pattern; for a key of a map, of the map.
  fileprivate func values(
    ofType pattern: String
  ) throws(ClientError) -> [(source: String, value: JSONValue)] {
    let names = pattern.split(separator: "/")
    let isOfKey = names.first == "maps" && names.count > 2 && !pattern.contains("*")
    do throws(ClientError) {
      let found = try values(of: pattern)
      // A map that has no keys is there too.
      guard isOfKey, found.allSatisfy({ $0.value == .object([:]) }) else { return found }
    } catch {
      guard case .refused(let refusal) = error, refusal.name == .notFound else { throw error }
    }
    return isOfKey ? try values(ofType: names.dropLast().joined(separator: "/")) : []
  }
}

extension KnownTypes {
  /// Returns the values of a source that have a type: of lists and maps the elements.
  fileprivate func parts(
    of source: String, _ value: JSONValue
  ) -> [(path: String, type: ValueType, value: JSONValue)] {
    switch value {
    case .array(let elements) where source.hasPrefix("lists/"):
      let type = type(of: source)
      return elements.compactMap { element in type.map { (source, $0, element) } }
    case .object(let object) where source.hasPrefix("maps/"):
      return object.members.compactMap { member in
        let path = source + "/" + member.name
        return type(ofKey: path, of: source).map { found in
          (found.isOfKey ? path : source, found.type, member.value)
        }
      }
    default: return type(of: source).map { [(source, $0, value)] } ?? []
    }
  }
}

private func names(_ client: BinderClient) throws -> [String] {
  let all = try client.call("describe").object
  var names: [String] = []
  for service in all.object("services").members.map(\.name) {
    names.append(service)
    let one = try client.call("describe", ["path": .string(service)]).object
    names += one.object("methods").members.map { service + "." + $0.name }
  }
  return names + all.object("methods").members.map(\.name)
}

/// The text form of a reply to `describe`.
private struct Description {
  let style: Style
  let width: Int?

  init(_ output: Output) {
    style = output.style
    width = output.width
  }

  func text(_ answer: JSONObject) -> String {
    if answer["service"] != nil { return service(answer) }
    if let name = answer.string("method") { return method(name, answer) }
    if let name = answer.string("source") { return source(name, answer) }
    let methods = answer.object("methods").members.map { ($0.name, $0.value.bare) }
    return style.bold("methods of the daemon") + "\n" + list(methods)
  }

  private func service(_ answer: JSONObject) -> String {
    let name = answer.string("service") ?? ""
    var text = head(name, answer)
    let sources = answer.object("sources").members.map { member in
      // A source may have the name of the service itself.
      (
        member.name.isEmpty ? name : name + "/" + member.name,
        member.value.object.string("doc") ?? ""
      )
    }
    if !sources.isEmpty { text += "\n\n" + style.bold("sources") + "\n" + list(sources) }
    let methods = answer.object("methods").members.map { member in
      (
        ([name + "." + member.name] + parameters(member.value.object)).joined(separator: " "),
        member.value.object.string("doc") ?? ""
      )
    }
    if !methods.isEmpty { text += "\n\n" + style.bold("methods") + "\n" + list(methods) }
    let events = answer.array("events").map { ($0.bare, "") }
    if !events.isEmpty { text += "\n\n" + style.bold("events") + "\n" + list(events) }
    return text
  }

  private func method(_ name: String, _ answer: JSONObject) -> String {
    var text = head(name, answer)
    text +=
      "\n\n  $ " + (["\(bindctlCommand) call", name] + parameters(answer)).joined(separator: " ")
    let named = answer.array("params").map(\.object)
    let width = named.map { $0.string("name")?.count ?? 0 }.max() ?? 0
    let rows = named.map { parameter in
      let name = parameter.string("name") ?? ""
      let space = String(repeating: " ", count: width - name.count + 2)
      let type = parameter.string("format") ?? parameter.string("type") ?? ""
      return (name + space + type, parameter.string("doc") ?? "")
    }
    if !rows.isEmpty { text += "\n\n" + style.bold("parameters") + "\n" + list(rows) }
    var rest = [("returns", answer.string("result") ?? "")]
    for (member, label) in [("writes", "writes"), ("errors", "refuses with")] {
      let words = answer.array(member).map(\.bare)
      if !words.isEmpty { rest.append((label, words.joined(separator: ", "))) }
    }
    return text + "\n\n" + list(rest)
  }

  private func source(_ name: String, _ answer: JSONObject) -> String {
    func word(_ member: String, _ yes: String, _ no: String) -> String {
      answer[member] == .bool(true) ? yes : no
    }
    return head(name, answer) + "\n\n"
      + list([
        ("type", type(name, answer)),
        ("set", word("writable", "by bindctl set", "only by its service")),
        ("past", word("journaled", "kept in the journal", "not kept")),
      ])
  }

  /// Returns the declared type of a source, or the kind of its values.
  private func type(_ name: String, _ answer: JSONObject) -> String {
    guard let declared = answer.string("declared") else { return answer.string("type") ?? "" }
    return ["lists/", "maps/"].contains { name.hasPrefix($0) } ? "each: \(declared)" : declared
  }

  /// Returns the name and its description.
  private func head(_ name: String, _ answer: JSONObject) -> String {
    let doc = (answer.string("doc") ?? "").wrapped(width: width.map { $0 - 2 } ?? .max)
    return ([style.bold(name)] + doc.map { "  " + $0 }).joined(separator: "\n")
  }

  /// Returns the arguments of a call, as a user types them.
  private func parameters(_ method: JSONObject) -> [String] {
    method.array("params").map { parameter in
      let object = parameter.object
      let isText = object.string("type") == "string"
      let word = (object.string("name") ?? "") + (isText ? "=" : ":=") + "…"
      return object["optional"] == .bool(true) ? "[\(word)]" : word
    }
  }

  private func list(_ rows: [(String, String)]) -> String {
    Glossary(rows).text(width: width, Style(isOn: false))
  }
}

extension JSONObject {
  /// Returns a member that is an object; empty if it is not one.
  func object(_ name: String) -> JSONObject { self[name]?.object ?? [:] }

  /// Returns a member that is an array; empty if it is not one.
  func array(_ name: String) -> [JSONValue] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements
  }
}

extension JSONValue {
  var object: JSONObject {
    guard case .object(let object) = self else { return [:] }
    return object
  }
}

let callSyntax = Syntax(
  "call", "Calls a method and prints what it returns.",
  operands: [Operand("METHOD"), Operand("ARG", .any)],
  options: [
    Option(
      "cmd", value: "ID",
      "idempotency key: a repeated ID is not run again; the first result is returned"),
    Option("expect", value: "STREAM=N", "only if the stream has N events; may be repeated"),
    settleOption,
  ],
  details: """
    ARG is name=text, name:=json, or all of them as one {…} or […]. 'bindctl describe METHOD' lists the
    parameters. --settle exits with 1 if the value of a binding was refused, or if bindings still write after 5
    seconds; the call has succeeded all the same.
    """,
  examples: [
    "bindctl call cells.add name=visits by:=1", "bindctl call cells.toggle '[\"lamp\"]'",
    "bindctl call cells.add name=visits --cmd 0192f0c1",
  ])

var callCommand: Command {
  Command(callSyntax) { context in
    let connection = try context.client.connected()
    let id = try connection.send(context.operand(0), parameters(context))
    let result = try connection.answer(to: id).object
    let shown = result["value"] ?? .object(result)
    context.output.result(result, bare: shown, human: context.output.style.value(shown.text.text))
    return context.invocation.has("settle") ? showEffects(of: result, context) : .done
  }
}

/// Returns the arguments of the call as JSON.
private func parameters(_ context: Context) throws -> JSONText {
  let arguments = try arguments(context.invocation.operands.dropFirst())
  var options = try options(context)
  let isAsked = !options.members.isEmpty
  guard case .object(var object) = arguments.value else {
    if isAsked { throw misuse("--cmd, --expect and --settle need arguments by name, not […]") }
    return arguments
  }
  try context.addCause(to: &options)
  guard !options.members.isEmpty else { return arguments }
  object["_meta"] = .object(options)
  return JSONValue.object(object).text
}

/// Returns the arguments of a call, as typed, as JSON.
func arguments(_ words: ArraySlice<String>) throws -> JSONText {
  var object = JSONObject()
  if let word = words.first, word.hasPrefix("{") || word.hasPrefix("[") {
    let whole: JSONText
    do throws(JSONFault) {
      whole = try JSONText(parsing: word)
    } catch {
      throw misuse("'\(word)' is not JSON: \(error)")
    }
    if let extra = words.dropFirst().first { throw misuse("unexpected argument '\(extra)'") }
    return whole
  }
  for word in words { try object.add(word: word, command: "call") }
  return JSONValue.object(object).text
}

/// Returns the members of `_meta`.
private func options(_ context: Context) throws(UsageError) -> JSONObject {
  var options = JSONObject()
  options["cmd"] = context.invocation.value("cmd").map { .string($0) }
  var expected = JSONObject()
  for word in context.invocation.values("expect") {
    guard let equals = word.lastIndex(of: "="),
      let version = expectation(String(word[word.index(after: equals)...]))
    else {
      throw misuse(
        "--expect takes STREAM=N, where N is a number, none, exists or any, not '\(word)'")
    }
    expected[String(word[..<equals])] = version
  }
  if !expected.members.isEmpty { options["expect"] = .object(expected) }
  if context.invocation.has("settle") { options["settle"] = .bool(true) }
  return options
}

private func misuse(_ text: String) -> UsageError {
  UsageError(text, command: "call")
}
