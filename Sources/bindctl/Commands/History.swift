import BinderClient
import Console
import JSON
import Wire

let historySyntax = Syntax(
  "history", "Shows the past values of a source with their versions, oldest first.",
  operands: [Operand("SRC")],
  options: [
    Option("count", letter: "n", value: "N", "only the last N; default 20 without --since"),
    sinceOption, whoOption,
  ],
  examples: [
    "bindctl history cells/lamp", "bindctl history cells/lamp --who",
    "bindctl history cells/lamp --since -1d -j",
  ])

var historyCommand: Command {
  Command(historySyntax) { context in
    let source = context.operand(0)
    guard !source.contains("*") else {
      throw UsageError(
        "history takes one source, not the pattern '\(source)'; use 'bindctl at' for a pattern",
        command: "history")
    }
    guard source != "events" else {
      throw UsageError("use 'bindctl events' to see what has happened", command: "history")
    }
    let wanted = try context.number("count")
    if wanted == 0 { throw UsageError("--count must be at least 1", command: "history") }
    let connection = try context.client.connected()
    let since = try context.moment("since")
    var range = JournalRange(
      after: try since.map { try connection.position(at: $0, isIncluded: false) }
        ?? connection.greeting.first - 1,
      end: connection.greeting.last,
      filter: ["streams": .array([.string(source)])])
    range.withOrigin = context.invocation.has("who")
    let first = range.after
    if let count = wanted ?? (since == nil ? 20 : nil) {
      range = try connection.last(count, of: range)
    }
    var changes: [Change] = []
    try connection.events(of: range) {
      changes.append(Change(seq: $0.seq, version: $0.event["version"], who: $0.event["who"]))
    }
    if changes.isEmpty || !Change.areOfOneStream(source) {
      // The events of a source may be in streams of other names, as those of a row.
      let most = wanted.map(Int.init) ?? (since == nil ? 20 : nil)
      let known = Set(changes.map(\.seq))
      let others = try changesOfAnyStream(
        source, after: first, most ?? mostOfAnyStream, range.withOrigin, connection)
      changes += others.filter { !known.contains($0.seq) }
      changes.sort { $0.seq < $1.seq }
      if let most { changes = changes.suffix(max(most, 0)) }
      if most == nil, others.count == mostOfAnyStream, let oldest = others.first {
        note("before event \(oldest.seq), changes by events of other streams are left out")
      }
    }
    if changes.isEmpty { try explainNothing(source, since, connection) }
    show(try values(source, at: changes, connection), context)
    return .done
  }
}

/// An event that changed a source.
private struct Change {
  let seq: UInt64
  let version: JSONValue?
  let who: JSONValue?

  /// Returns whether only the stream with the name of a source changes it.
  static func areOfOneStream(_ source: String) -> Bool {
    ["cells/", "lists/", "maps/"].contains { source.hasPrefix($0) }
  }
}

/// The most changes of a source that are looked for in all streams: each is a request.
private let mostOfAnyStream = 1000

/// Returns the last events that changed a source, whatever their stream, oldest first.
private func changesOfAnyStream(
  _ source: String, after: UInt64, _ most: Int, _ withWho: Bool, _ connection: BinderConnection
) throws -> [Change] {
  var changes: [Change] = []
  var last = connection.greeting.last
  while changes.count < most, last > after {
    let params: JSONObject = [
      "source": .string(source), "at": .object(["seq": .number(JSONNumber(last))]),
    ]
    let answer = try connection.call("why", params)
    guard case .array(let links)? = answer.object["value"], case .object(let link)? = links.first,
      case .number(let number)? = link["seq"], let seq = number.int64.map(UInt64.init), seq > after
    else { break }
    changes.append(Change(seq: seq, version: nil, who: withWho ? link["who"] : nil))
    last = seq - 1
  }
  return changes.reversed()
}

/// Returns the values of a source after each of some events, as documents.
private func values(
  _ source: String, at items: [Change], _ connection: BinderConnection
) throws -> [JSONObject] {
  // The maximum number of requests in flight.
  let window = 32
  var documents: [JSONObject] = []
  for start in stride(from: 0, to: items.count, by: window) {
    let some = items[start..<min(start + window, items.count)]
    let ids = try some.map { item in
      try connection.send(
        "history",
        [
          "source": .string(source), "at": .object(["seq": .number(JSONNumber(item.seq))]),
        ])
    }
    for (item, id) in zip(some, ids) {
      var document = try connection.answer(to: id).object
      document["version"] = item.version
      document["who"] = item.who
      documents.append(document)
    }
  }
  return documents
}

private func show(_ documents: [JSONObject], _ context: Context) {
  let output = context.output
  guard output.form == .human else {
    for document in documents {
      output.result(document, bare: document["value"] ?? .string(""), human: "")
    }
    return
  }
  let withWho = documents.contains { $0.who != nil }
  let bars = output.isTerminal ? bars(of: documents) : nil
  var table = Table(
    ["SEQ", "TIME", "VERSION"] + (withWho ? ["WHO"] : []) + ["VALUE"] + (bars == nil ? [] : [""]),
    numbers: [0, 2])
  let last = withWho ? 4 : 3
  for (i, document) in documents.enumerated() {
    let time = document.string("time") ?? ""
    var cells = [
      document["seq"]?.bare ?? "",
      output.isTerminal ? Timestamp(time)?.shownHere ?? time : time,
      document["version"]?.bare ?? "",
    ]
    if withWho { cells.append(document.who ?? "") }
    table.add(cells + [document["value"]?.text.text ?? "(gone)"] + (bars.map { [$0[i]] } ?? []))
  }
  output.table(table) { column, cell in
    column < 2 || cell == "(gone)"
      ? output.style.dim(cell) : column == last ? output.style.value(cell) : cell
  }
}

/// Returns a bar for each value if all of them are numbers, and not all the same; otherwise `nil`.
private func bars(of documents: [JSONObject]) -> [String]? {
  let values = documents.compactMap { $0["value"] }
  let numbers = values.compactMap { value -> Double? in
    if case .number(let number) = value { number.double } else { nil }
  }
  guard numbers.count == values.count, Set(numbers).count > 1, let bar = Bar(for: numbers) else {
    return nil
  }
  return documents.map { document in
    guard case .number(let number)? = document["value"] else { return "" }
    return bar.text(number.double, width: 20)
  }
}

/// Throws an error that explains an empty history, if possible the daemon's own.
private func explainNothing(
  _ source: String, _ since: When?, _ connection: BinderConnection
) throws {
  _ = try connection.call(
    "history",
    [
      "source": .string(source),
      "at": .object(["seq": .number(JSONNumber(connection.greeting.last))]),
    ])
  throw Failure("'\(source)' has no history\(since == nil ? "" : " since then")", .notFound)
}

let atSyntax = Syntax(
  "at", "Shows the values at a past moment, or what has changed since.",
  operands: [Operand("WHEN"), Operand("PATTERN", .any)],
  options: [
    Option(
      "diff", "show the differences to now, or to the second WHEN; exit with 1 if there are any"),
    Option("who", "with --diff: add who made the last change"),
  ],
  details: """
    With --diff, a second WHEN may precede PATTERN. A line of a diff begins with + for an added source,
    - for a removed source, and ~ for a changed value.
    """,
  examples: [
    "bindctl at -5m", "bindctl at 2026-11-20T20:00 'cells/**'", "bindctl at -1h --diff --who",
    "bindctl at 81234 --diff 81300 'lists/*' -j",
  ])

/// Returns the error for more than one pattern.
private func unexpected(_ patterns: ArraySlice<String>) -> UsageError {
  UsageError("unexpected argument '\(patterns.dropFirst().first ?? "")'", command: "at")
}

var atCommand: Command {
  Command(atSyntax) { context in
    var operands = context.invocation.operands[...]
    let moment = try context.when(operands.removeFirst())
    let connection = try context.client.connected()
    let withWho = context.invocation.has("who")
    guard context.invocation.has("diff") else {
      if withWho { throw UsageError("option '--who' needs --diff", command: "at") }
      guard operands.count <= 1 else {
        throw unexpected(operands)
      }
      let past = try connection.values(of: operands.first ?? "**", at: moment)
      show(past, context)
      return .done
    }
    var other = When.now
    if operands.count > 1 || operands.first.map({ !$0.contains("*") && !$0.contains("/") }) ?? false
    {
      other = try context.when(operands.removeFirst())
    }
    guard operands.count <= 1 else { throw unexpected(operands) }
    let pattern = operands.first ?? "**"
    let (before, after) = (
      try connection.values(of: pattern, at: moment), try connection.values(of: pattern, at: other)
    )
    let changes = differences(from: before, to: after)
    for change in changes {
      let who = withWho ? try connection.lastChange(of: change.source, upTo: after.seq) : nil
      change.show(context, who)
    }
    return changes.isEmpty ? .done : .no
  }
}

/// Past values, sorted by name.
struct ValuesThen {
  var seq: JSONValue = .null
  var values: [(source: String, value: JSONValue)] = []
}

extension BinderConnection {
  /// Returns the past values of all sources that match a pattern, from one or more replies.
  func values(of pattern: String, at moment: When) throws -> ValuesThen {
    var params: JSONObject = ["source": .string(pattern), "at": .object(at(moment))]
    var then = ValuesThen()
    while true {
      let page = try call("history", params).object
      then.seq = page["seq"] ?? .null
      if case .object(let values)? = page["values"] {
        then.values += values.members.map { ($0.name, $0.value) }
      } else if let value = page["value"] {
        then.values.append((pattern, value))
      }
      guard page["more"] == .bool(true), let last = then.values.last else { return then }
      // Use the position for the next page, so that all pages show the same state.
      params["at"] = .object(["seq": then.seq])
      params["behind"] = .string(last.source)
    }
  }

  /// Returns a time as a parameter of `history`.
  func at(_ moment: When) -> JSONObject {
    switch moment {
    case .seq(let seq): ["seq": .number(JSONNumber(seq))]
    case .time(let time): ["time": .string(time.text)]
    case .start: ["seq": .number(JSONNumber(greeting.first))]
    case .now: ["seq": .number(JSONNumber(greeting.last))]
    }
  }
}

private func show(_ past: ValuesThen, _ context: Context) {
  let output = context.output
  var table = Table(["SOURCE", "VALUE"])
  for (source, value) in past.values {
    guard output.form != .human else {
      table.add([source, value.text.text])
      continue
    }
    output.result(
      ["source": .string(source), "seq": past.seq, "value": value], bare: value, human: "")
  }
  if output.form == .human { output.table(table) }
}

/// The difference of a source between two times.
struct Difference {
  let source: String

  /// The value; `nil` if the source did not exist.
  let before: JSONValue?
  let after: JSONValue?

  func show(_ context: Context, _ who: JSONValue?) {
    var document: JSONObject = ["source": .string(source)]
    if let before { document["before"] = before }
    if let after { document["after"] = after }
    document["who"] = who
    context.output.result(
      document, bare: .string(source),
      human: line(context.output.style) + (document.who.map { "  (\($0))" } ?? ""))
  }

  private func line(_ style: Style) -> String {
    switch (before?.text.text, after?.text.text) {
    case (let before?, let after?): style.yellow("~ \(source)") + " \(before) -> \(after)"
    case (nil, let after): style.green("+ \(source) \(after ?? "")")
    case (let before?, nil): style.red("- \(source) \(before)")
    }
  }
}

/// Returns the differences; both lists are sorted by name.
private func differences(from before: ValuesThen, to after: ValuesThen) -> [Difference] {
  var changes: [Difference] = []
  var (old, new) = (before.values[...], after.values[...])
  while let left = old.first, let right = new.first {
    if left.source == right.source {
      if left.value != right.value {
        changes.append(Difference(source: left.source, before: left.value, after: right.value))
      }
      old.removeFirst()
      new.removeFirst()
    } else if left.source < right.source {
      changes.append(Difference(source: left.source, before: left.value, after: nil))
      old.removeFirst()
    } else {
      changes.append(Difference(source: right.source, before: nil, after: right.value))
      new.removeFirst()
    }
  }
  changes += old.map { Difference(source: $0.source, before: $0.value, after: nil) }
  return changes + new.map { Difference(source: $0.source, before: nil, after: $0.value) }
}
