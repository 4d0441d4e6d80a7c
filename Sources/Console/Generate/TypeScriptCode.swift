internal import JSON

/// A module of TypeScript: for each service a class, and types of its parameters and results.
struct TypeScriptCode {
  private(set) var text = ""
  private var typeNames = UniqueNames(reserved: ["Client", "Json", "CallOptions"])

  init(_ interface: Interface) {
    let heading = Language.typescript.heading(interface).map { $0.isEmpty ? " *" : " * \($0)" }
    text = """
      /**
      \(heading.joined(separator: "\n"))
       */

      import type { Client, Json } from "binder";

      /** A `signal` gives up a call. */
      export type CallOptions = { signal?: AbortSignal };

      """
    for service in interface.services { add(service) }
    if !interface.sources.isEmpty { add(interface.sources) }
    if !interface.patterns.isEmpty { add(patterns: interface.patterns) }
  }

  private mutating func add(_ sources: [Interface.Source]) {
    text += "\n/** The values of the sources with declared types, by name. */\n"
    text += "export type \(typeNames.name("SourceTypes")) = {\n"
    for source in sources {
      text += "  /** \(source.summary) */\n"
      text += "  \(quoted(source.name)): \(type(source.shape, any: "any"));\n"
    }
    text += "};\n"
  }

  private mutating func add(patterns: [Interface.Source]) {
    var (types, functions, names) = ("", "", UniqueNames())
    for source in patterns {
      let stem = Identifier(source.name)
      types += "\n/** \(source.summary) */\n"
      types += "export type \(typeNames.name(stem.pascal)) = \(type(source.shape, any: "any"));\n"
      let parameters = source.parameters.map { "\($0): string" }.joined(separator: ", ")
      functions += "  /** \(source.summary) */\n"
      functions += "  \(names.name(stem.camel)): (\(parameters)): string => "
      functions += "`\(source.text { "${\($0)}" })`,\n"
    }
    text += types + "\n/** The names of the sources whose types are declared by a pattern. */\n"
    text += "export const \(typeNames.name("SourceNames")) = {\n\(functions)};\n"
  }

  private mutating func add(_ service: Interface.Service) {
    let name = typeNames.name(Identifier(service.name).pascal + "Service")
    var methodNames = UniqueNames(reserved: ["constructor", "client"])
    var methods = ""
    for method in service.methods {
      methods +=
        "\n"
        + code(method, named: methodNames.name(Identifier(method.shortName).camel), of: service)
    }
    if !service.doc.isEmpty { text += "\n/** \(service.doc.remark) */" }
    text += "\nexport class \(name) {\n  private readonly client: Client;\n\n"
    text += "  constructor(client: Client) {\n    this.client = client;\n  }\n" + methods + "}\n"
  }

  private mutating func code(
    _ method: Interface.Method, named name: String, of service: Interface.Service
  ) -> String {
    let stem = Identifier([service.name, method.shortName]).pascal
    let result = typeNames.name(stem + "Result")
    var (signature, params) = ("", "{}")
    if !method.parameters.isEmpty {
      let type = typeNames.name(stem + "Params")
      text += "\nexport type \(type) = {\n"
      for parameter in method.parameters {
        if !parameter.doc.isEmpty { text += "  /** \(parameter.doc.remark) */\n" }
        let value = self.type(parameter.shape, any: "Json")
        text += "  \(key(parameter.name))\(parameter.isOptional ? "?" : ""): \(value);\n"
      }
      text += "};\n"
      signature =
        "params: \(type)" + (method.parameters.allSatisfy(\.isOptional) ? " = {}, " : ", ")
      params = "params"
    }
    text += "\nexport type \(result) = \(type(method.result, any: "any"));\n"
    let comment = [method.summary] + (method.rejections.map { ["", $0] } ?? [])
    var code = comment.count == 1 ? "  /** \(comment[0]) */\n" : "  /**\n"
    if comment.count > 1 {
      code += comment.map { $0.isEmpty ? "   *\n" : "   * \($0)\n" }.joined() + "   */\n"
    }
    code += "  async \(name)(\(signature)options: CallOptions = {}): Promise<\(result)> {\n"
    let call =
      "this.client.\(method.isCommand ? "command" : "call")(\(quoted(method.name)), \(params), options)"
    return code + "    return (await \(call)) as any;\n  }\n"
  }

  private func type(_ shape: Shape, any: String) -> String {
    switch shape {
    case .any: return any
    case .bool: return "boolean"
    case .integer, .natural, .number: return "number"
    case .string, .text: return "string"
    case .words(let words): return words.map(quoted).joined(separator: " | ")
    case .array(let element): return "Array<\(type(element, any: any))>"
    case .map(let element): return "{ [name: string]: \(type(element, any: any)) }"
    case .either(let shapes):
      let forms = shapes.map { type($0, any: any) }.reduce(into: [String]()) { forms, form in
        if !forms.contains(form) { forms.append(form) }
      }
      return forms.contains(any) ? any : forms.joined(separator: " | ")
    case .object(let members):
      let members = members.map { member in
        "\(key(member.name))\(member.isOptional ? "?" : ""): \(type(member.shape, any: any))"
      }
      return members.isEmpty ? "{}" : "{ \(members.joined(separator: "; ")) }"
    }
  }

  private func key(_ name: String) -> String {
    Identifier(name).snake == name ? name : quoted(name)
  }

  private func quoted(_ text: String) -> String { JSONValue.string(text).text.text }
}
