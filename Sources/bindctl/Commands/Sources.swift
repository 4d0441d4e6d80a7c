import BinderClient
import Console
import JSON
import Model
import Wire

let getSyntax = Syntax(
  "get", "Prints the value of a source, now or at a past moment.",
  operands: [Operand("SRC", .some)],
  options: [
    Option("at", value: "WHEN", "at a position or a time; see 'bindctl help when'"), pickOption,
  ],
  details: """
    For one source, prints only its value; for several, or a pattern, one line each with the name. If a
    source failed to load (a feed, for example), its error is printed next to the last known value.
    Exits with 4 if the source does not exist, or did not exist at that time. With --pick, sources of a
    pattern without that part are left out; a single one without it is an error.
    """,
  examples: [
    "bindctl get cells/lamp", "bindctl get 'cells/**'", "bindctl get cells/lamp --at -5m",
    "bindctl get system/load --pick /one",
  ])

var getCommand: Command {
  Command(getSyntax) { context in
    let sources = context.invocation.operands
    let isNamed = sources.count > 1 || sources.contains { $0.contains("*") }
    var documents: [JSONObject] = []
    switch try context.moment("at") {
    case nil, .now?:
      let connection = try context.client.connected()
      for source in sources {
        let answer = try connection.call("get", ["source": .string(source)]).object
        documents += answer.eachSource(isForPeople: context.output.form == .human)
        context.suggestKey(of: source, documents.last?["value"]?.text) { map, key in
          "\(bindctlCommand) get \(map) --pick /\(key)"
        }
      }
    case let moment?:
      for source in sources where !source.contains("*") {
        documents.append(try past(source, moment, context))
      }
      for pattern in sources where pattern.contains("*") {
        let then = try context.client.connected().values(of: pattern, at: moment)
        documents += then.values.map {
          ["source": .string($0.source), "seq": then.seq, "value": $0.value]
        }
      }
    }
    if let pointer = try context.pick() { documents = try parts(pointer, of: documents, sources) }
    var table = Table(["SOURCE", "VALUE"])
    for document in documents {
      let text = (document["value"] ?? .null).text.text
      if isNamed, context.output.form == .human {
        table.add([document["source"]?.bare ?? "", text])
      } else {
        context.output.result(
          document, bare: document["value"], human: context.output.style.value(text))
      }
    }
    if isNamed, context.output.form == .human {
      context.output.table(table) { $0 == 1 ? context.output.style.value($1) : $1 }
    }
    return .done
  }
}

/// Returns the documents with a part of their values.
///
/// - Throws: ``Failure`` for a source that was named and has no such part.
private func parts(
  _ pointer: JSONPointer, of documents: [JSONObject], _ sources: [String]
) throws -> [JSONObject] {
  try documents.compactMap { document in
    let name = document["source"]?.bare ?? ""
    // The figures of the moment are beside the value.
    let found = [document["value"], document["now"]].lazy
      .compactMap { $0.flatMap { pointer.find(in: $0.text) } }
    guard let part = found.first else {
      guard sources.contains(name) else { return nil }
      throw Failure("'\(name)' has no '\(pointer.text)'", .notFound)
    }
    var document = document
    document["value"] = part.value
    document["now"] = nil
    return document
  }
}

/// Returns the value of a source at a past time.
private func past(_ source: String, _ moment: When, _ context: Context) throws -> JSONObject {
  let connection = try context.client.connected()
  let result = try connection.call(
    "history", ["source": .string(source), "at": .object(connection.at(moment))])
  guard result.object["gone"] == nil else {
    throw Failure(
      "'\(source)' had no value at \(context.invocation.value("at") ?? "");"
        + " '\(bindctlCommand) history \(source)' shows when it had one", .notFound)
  }
  return result.object
}

extension JSONObject {
  /// Returns the reply to `get` as one document per source.
  ///
  /// - Parameter isForPeople: Whether the figures of the moment are shown among the members of the
  ///   value, and not beside it.
  fileprivate func eachSource(isForPeople: Bool) -> [JSONObject] {
    guard case .object(let values)? = self["values"] else {
      return [(isForPeople ? withNow : self).loadedOrState]
    }
    return values.members.map { member in
      var document: JSONObject = ["source": .string(member.name)]
      document["kind"] = self["kind"]
      document["seq"] = self["seq"]
      document["value"] = member.value
      return document
    }
  }

  /// The document, with the figures of the moment among the members of the value.
  private var withNow: JSONObject {
    guard case .object(let now)? = self["now"], case .object(var value)? = self["value"] else {
      return self
    }
    var document = self
    for member in now.members { value[member.name] = member.value }
    document["value"] = .object(value)
    document["now"] = nil
    return document
  }

  /// The document, with the loading state as value unless it is loaded.
  private var loadedOrState: JSONObject {
    guard let state = self["state"], state != .string("loaded") else { return self }
    var (document, shown) = (self, JSONObject())
    shown["state"] = state
    shown["value"] = self["value"]
    shown["error"] = self["error"]
    document["value"] = .object(shown)
    return document
  }
}

let settleOption = Option("settle", "wait until bindings have written what follows, and list it")

let setSyntax = Syntax(
  "set", "Sets a source, or with - several sources in one commit.",
  operands: [Operand("SRC"), Operand("VALUE", .optional)],
  options: [
    stringOption,
    Option("if-version", value: "N", "only if the version is N, or 'none' if it was never set"),
    Option("if", value: "VALUE", "only if it has this value; 'null' for none (cells only)"),
    Option("ttl", value: "TIME", "remove the value after TIME, unless the lease is renewed"),
    Option("while-connected", "stay until interrupted; then the value is removed"),
    settleOption,
  ],
  details: """
    VALUE is JSON if it parses, otherwise a string; - reads stdin, @FILE reads a file. For foreign text
    use -s: 'set -s -- SRC "$text"' sets it as it is. When the command returns, the value is on disk. Exits with 5 if the --if or --if-version condition is not met. - in
    place of SRC and VALUE reads lines 'SRC VALUE' from stdin, as printed by get: all sources are set in
    one commit, or none. --ttl and --while-connected take cells. --ttl prints the name of the lease, which
    'bindctl call lease.renew lease=NAME' renews. --settle exits with 1 if the value of a binding was refused, or
    if bindings still write after 5 seconds; SRC is set all the same.
    """,
  examples: [
    "bindctl set cells/lamp true", "bindctl set cells/name 'Kim'",
    "bindctl set cells/lock mine --if null || echo taken",
    "bindctl get 'cells/**' > kept; bindctl set - < kept", "bindctl set cells/door open --ttl 30s",
  ])

var setCommand: Command {
  Command(setSyntax) { context in
    let source = context.operand(0)
    guard context.invocation.operands.count > 1 else {
      guard source == "-" else { throw UsageError("missing argument VALUE", command: "set") }
      for option in ["if", "if-version", "ttl", "while-connected", "settle"]
      where context.invocation.has(option) || context.invocation.value(option) != nil {
        throw UsageError("option '--\(option)' needs one SRC, not '-'", command: "set")
      }
      return try setMany(context)
    }
    var params: JSONObject = ["value": try context.value(context.operand(1)).value]
    var meta = JSONObject()
    if let version = context.invocation.value("if-version") {
      guard let expected = expectation(version) else {
        throw UsageError(
          "--if-version takes a number, none, exists or any, not '\(version)'", command: "set")
      }
      meta["expect"] = .object([source: expected])
    }
    let isWhileConnected = context.invocation.has("while-connected")
    if let ttl = try context.milliseconds("ttl") {
      guard !isWhileConnected else {
        throw UsageError("--ttl and --while-connected cannot be used together", command: "set")
      }
      guard Int(exactly: ttl).map(LeaseLimits.ttls.contains) == true else {
        throw UsageError(
          "--ttl takes 100ms to 31d, not '\(context.invocation.value("ttl") ?? "")'", command: "set"
        )
      }
      meta["lease"] = .object(["ttl_ms": .number(JSONNumber(ttl))])
    }
    try context.addCause(to: &meta)
    let isSettling = context.invocation.has("settle")
    guard !isSettling || !isWhileConnected else {
      throw UsageError("--settle and --while-connected cannot be used together", command: "set")
    }
    if isSettling { meta["settle"] = .bool(true) }
    if meta != JSONObject() { params["_meta"] = .object(meta) }
    var method = "set"
    if let expected = context.invocation.value("if") {
      guard source.hasPrefix("cells/") else {
        throw UsageError("--if takes a cell, not '\(source)'", command: "set")
      }
      method = "cells.compare_and_set"
      params["name"] = .string(String(source.dropFirst("cells/".count)))
      params["expected"] = try JSONText.typed(expected, command: "set").value
    } else {
      params["source"] = .string(source)
    }
    if isWhileConnected {
      try runWhileConnected(method, params, context) { result in
        guard context.output.form != .human else { return }
        context.output.result(result, bare: result["value"], human: "")
      }
    }
    let result = try context.client.call(method, params).object
    if context.output.form != .human {
      context.output.result(result, bare: result["value"], human: "")
    } else if let lease = result.string("lease") {
      context.output.result(result, bare: nil, human: lease)
    }
    return isSettling ? showEffects(of: result, context) : .done
  }
}

/// Shows what bindings have written because of a command.
func showEffects(of result: JSONObject, _ context: Context) -> ExitCode {
  let effects = result["effects"]?.object ?? [:]
  if context.output.form == .human {
    for write in effects.array("writes").map(\.object) {
      let value = write["value"]?.text.text ?? "(long)"
      let binding = write.string("binding").map { "  (\($0))" } ?? ""
      context.output.line("\(write.string("source") ?? "") \(value)\(binding)".harmless())
    }
  }
  for refusal in effects.array("refused").map(\.object) {
    let source = refusal.string("source") ?? ""
    let binding = refusal.string("binding").map { " (\($0))" } ?? ""
    complain("'\(source)' was not written: \(refusal.string("failure") ?? "refused")\(binding)")
  }
  if let more = effects["more"]?.bare { note("\(more) more are not shown") }
  for binding in effects.array("waiting") { note("a value waits in \(binding.bare)") }
  guard effects["settled"] == .bool(false) else {
    return effects["refused"] == nil ? .done : .no
  }
  note("not settled: \(effects.string("reason") ?? "")")
  return .no
}

let syncSyntax = Syntax(
  "sync", "Waits until bindings have passed on everything that was written before.",
  details: """
    Values that wait in an operator of time, such as debounce, do not count. Exits with 1 if bindings still write
    after 5 seconds.
    """,
  examples: ["bindctl sync && bindctl get cells/total"])

var syncCommand: Command {
  Command(syncSyntax) { context in
    let result = try context.client.call("sync", ["settle": .bool(true)]).object
    if context.output.form != .human {
      context.output.result(result, bare: result["seq"], human: "")
    }
    guard result["settled"] == .bool(false) else { return .done }
    note("bindings still write after 5 seconds")
    return .no
  }
}

/// Returns an expected version as JSON; `nil` unless it is a number, `none`, `exists` or `any`.
func expectation(_ text: String) -> JSONValue? {
  if let number = UInt64(text) { return .number(JSONNumber(number)) }
  return ["none", "exists", "any"].contains(text) ? .string(text) : nil
}

/// Sets sources from the lines of stdin, all in one commit or none.
func setMany(_ context: Context) throws -> ExitCode {
  let assignments = try assignments(context)
  guard !assignments.isEmpty else { return .done }
  let calls = assignments.map { assignment -> JSONValue in
    .object([
      "method": .string("set"),
      "params": .object([
        "source": .string(assignment.source), "value": assignment.value.value,
      ]),
    ])
  }
  let result: JSONObject
  do throws(ClientError) {
    result = try context.client.call("atomic", ["calls": .array(calls)]).object
  } catch {
    guard case .refused(let refusal) = error, let call = refusal.refusedCall,
      assignments.indices.contains(call.place)
    else { throw error }
    let assignment = assignments[call.place]
    throw Failure(
      "line \(assignment.line), \(assignment.source): \(call.message); nothing was set",
      ExitCode(ClientError.refused(refusal)))
  }
  if context.output.form != .human {
    context.output.result(result, bare: result["values"], human: "")
  }
  return .done
}

/// A line of input: a source, spaces or tabs, and a value.
private struct Assignment {
  let line: Int
  let source: String
  let value: JSONText
}

/// Parses the lines of stdin.
///
/// - Throws: ``Failure`` for a line without a value.
private func assignments(_ context: Context) throws -> [Assignment] {
  var assignments: [Assignment] = []
  let lines = try textOfStandardInput().split(separator: "\n", omittingEmptySubsequences: false)
  for (i, line) in lines.enumerated() {
    let words = line.split(maxSplits: 1) { $0 == " " || $0 == "\t" }
    guard let source = words.first else { continue }
    guard words.count == 2 else {
      throw Failure("line \(i + 1), \(source): expected 'SRC VALUE'", .usage)
    }
    let value = String(words[1].drop { $0 == " " || $0 == "\t" })
    assignments.append(
      Assignment(
        line: i + 1, source: String(source),
        value: context.invocation.has("string")
          ? JSONText(string: value) : try typed(value, line: i + 1)))
  }
  return assignments
}

/// Parses the value of a line.
///
/// - Throws: ``UsageError`` with the number of the line.
private func typed(_ text: String, line: Int) throws(UsageError) -> JSONText {
  do throws(UsageError) {
    return try .typed(text, command: "set")
  } catch {
    throw UsageError("line \(line): \(error)", command: "set")
  }
}

/// Returns why `remove` does not take a source that is no cell, and what removes that one.
private func whatEmpties(_ source: String) -> String {
  let parts = source.split(separator: "/", maxSplits: 1).map(String.init)
  let other = "remove takes a cell, for example cells/lamp, not '\(source)'"
  guard parts.count == 2 else { return other }
  return switch parts[0] {
  case "lists":
    other + "; a list is emptied with: \(bindctlCommand) call lists.clear name=\(parts[1])"
  case "maps": other + "; a map is emptied with: \(bindctlCommand) call maps.clear name=\(parts[1])"
  case "live", "services":
    other + "; it ends with the program that publishes it"
  case "people", "threads", "todo", "feeds", "users":
    other + "; '\(bindctlCommand) describe \(parts[0])' lists what removes it"
  default: other
  }
}

let removeSyntax = Syntax(
  "remove", "Removes a cell, or the cells of a pattern.", operands: [Operand("SRC")],
  options: [yesOption],
  details: """
    Exits with 1 if the cell was not set. Of a pattern it shows the cells and asks; in a script, add --yes. They are
    removed in one commit, which 'bindctl undo' takes back.
    """,
  examples: ["bindctl remove cells/lamp", "bindctl remove 'cells/old/**' --yes"])

var removeCommand: Command {
  Command(removeSyntax) { context in
    let source = context.operand(0)
    guard source.hasPrefix("cells/") else {
      throw UsageError(whatEmpties(source), command: "remove")
    }
    if source.contains("*") { return try removeAll(source, context) }
    let name = JSONValue.string(String(source.dropFirst("cells/".count)))
    var meta = JSONObject()
    try context.addCause(to: &meta)
    let result = try context.client.call(
      "cells.remove", ["name": name, "_meta": .object(meta)]
    ).object
    let wasThere = result["value"] == .bool(true)
    if context.output.form != .human {
      context.output.result(result, bare: result["value"], human: "")
    } else if !wasThere {
      note("'\(source)' was not set")
    }
    return wasThere ? .done : .no
  }
}

/// Removes the cells of a pattern in one commit, after a question.
private func removeAll(_ pattern: String, _ context: Context) throws -> ExitCode {
  let connection = try context.client.connected()
  let cells = try connection.values(of: pattern)
  guard let first = cells.first else {
    note("no cell matches '\(pattern)'")
    return .no
  }
  let limits = try? connection.call("stats").object.object("limits")
  if let most = limits?.uint("atomic"), cells.count > most {
    throw Failure("\(cells.count) cells match '\(pattern)', and a commit removes at most \(most)")
  }
  if context.output.form == .human {
    for (source, value) in cells { context.output.line("- \(source) \(value.text.text)") }
  }
  let what = cells.count == 1 ? first.source : "these \(cells.count) cells"
  guard try context.confirms("Remove \(what)?") else { return .no }
  let calls = cells.map { source, _ -> JSONValue in
    let name = String(source.dropFirst("cells/".count))
    return .object([
      "method": .string("cells.remove"), "params": .object(["name": .string(name)]),
    ])
  }
  var meta = JSONObject()
  try context.addCause(to: &meta)
  let result = try connection.call(
    "atomic", ["calls": .array(calls), "_meta": .object(meta)]
  ).object
  if context.output.form != .human {
    context.output.result(result, bare: result["events"], human: "")
  } else if let last = result.uint("seq"), let count = result.uint("events"), count > 0 {
    let events = count == 1 ? "\(last)" : "--since \(last - count) --until \(last)"
    note("to undo that: \(bindctlCommand) undo \(events)")
  }
  return .done
}
