import BinderClient
import Console
import JSON
import Model

let generateSyntax = Syntax(
  "generate", "Writes typed calls of the daemon's services, for a client in Protocol/clients.",
  operands: [
    Operand("LANGUAGE", choices: Language.allCases.map(\.rawValue)),
    Operand("SERVICE", .any, completes: .services),
  ],
  details: """
    One module with a class for each SERVICE, by default for all, goes to stdout. The types of parameters and
    results are those that the daemon checks ('bindctl call rpc.discover'); a service of a program has
    the parameters that it declares. Commands take effect exactly once. The daemon's own methods, such as
    get and subscribe, are those of the client itself. Sources with a declared type ('bindctl describe --types')
    have their names and types, also those of one SERVICE such as cells; for a pattern there is a
    function that makes a name of the parts in the place of the wildcards.
    """,
  examples: [
    "bindctl generate python > services.py", "bindctl generate swift cells lists > Services.swift",
  ])

var generateCommand: Command {
  Command(generateSyntax) { context in
    let client = context.client
    guard let language = Language(rawValue: context.operand(0)) else {
      throw UsageError("unknown LANGUAGE '\(context.operand(0))'", command: "generate")
    }
    let services = context.invocation.operands.dropFirst()
    let documents =
      services.isEmpty
      ? [try client.call("rpc.discover").object]
      : try services.map { try client.call("rpc.discover", ["service": .string($0)]).object }
    let known = try client.call("describe").object.object("services")
    let docs = Dictionary(known.members.map { ($0.name, $0.value.bare) }) { $1 }
    let types = (try? client.call("types.list").object.array("value").map(\.object)) ?? []
    let sources = types.compactMap { entry -> Interface.Source? in
      guard let name = entry.string("pattern"),
        services.isEmpty || services.contains(where: { name.hasPrefix($0 + "/") }),
        let type = entry.string("type").flatMap({ try? ValueType($0) })
      else { return nil }
      return Interface.Source(name, type)
    }
    let interface = Interface(documents, docs: docs, sources: sources)
    context.output.line(language.code(for: interface).droppingLastNewline)
    return .done
  }
}

extension String {
  fileprivate var droppingLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
