import BinderClient
import Console
import JSON
import Wire

let getSyntax = Syntax(
  "get", "Prints the value of a source, now or at a past moment.",
  operands: [Operand("SRC", .some)],
  options: [Option("at", value: "WHEN", "at a position or a time; see 'bindctl help when'")],
  details: """
    For one source, prints only its value; for several, or a pattern, one line each with the name. If a
    source failed to load (a feed, for example), its error is printed next to the last known value.
    Exits with 4 if the source does not exist, or did not exist at that time.
    """,
  examples: [
    "bindctl get cells/lamp", "bindctl get 'cells/**'", "bindctl get cells/lamp --at -5m",
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
        documents += try connection.call("get", ["source": .string(source)]).object.eachSource
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
    if isNamed, context.output.form == .human { context.output.table(table) }
    return .done
  }
}

/// Returns the value of a source at a past time.
private func past(_ source: String, _ moment: When, _ context: Context) throws -> JSONObject {
  let connection = try context.client.connected()
  let result = try connection.call(
    "history", ["source": .string(source), "at": .object(connection.at(moment))])
  guard result.object["gone"] == nil else {
    let seq = result.object["seq"]?.bare ?? ""
    throw Failure(
      "'\(source)' had no value at \(seq); 'bindctl history \(source)' shows when it had one",
      .notFound)
  }
  return result.object
}

extension JSONObject {
  /// The reply to `get` as one document per source.
  fileprivate var eachSource: [JSONObject] {
    guard case .object(let values)? = self["values"] else { return [loadedOrState] }
    return values.members.map { member in
      var document: JSONObject = ["source": .string(member.name)]
      document["kind"] = self["kind"]
      document["seq"] = self["seq"]
      document["value"] = member.value
      return document
    }
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
