import BinderClient
import Console
import JSON
import Wire

let historySyntax = Syntax(
  "history", "Shows the past values of a source with their versions, oldest first.",
  operands: [Operand("SRC")],
  options: [
    Option("count", letter: "n", value: "N", "only the last N; default 20 without --since"),
    sinceOption,
  ],
  examples: ["bindctl history cells/lamp", "bindctl history cells/lamp --since -1d -j"])

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
    if let count = wanted ?? (since == nil ? 20 : nil) {
      range = try connection.last(count, of: range)
    }
    var items: [JournalItem] = []
    try connection.events(of: range) { items.append($0) }
    if items.isEmpty { try explainNothing(source, since, connection) }
    show(try values(source, at: items, connection), context)
    return .done
  }
}

/// Returns the values of a source after each of some events, as documents.
private func values(
  _ source: String, at items: [JournalItem], _ connection: BinderConnection
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
      document["version"] = item.event["version"]
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
  var table = Table(["SEQ", "TIME", "VERSION", "VALUE"], numbers: [0, 2])
  for document in documents {
    let time = document.string("time") ?? ""
    table.add([
      document["seq"]?.bare ?? "",
      output.isTerminal ? Timestamp(time)?.shownHere ?? time : time,
      document["version"]?.bare ?? "", document["value"]?.text.text ?? "(gone)",
    ])
  }
  output.table(table)
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
