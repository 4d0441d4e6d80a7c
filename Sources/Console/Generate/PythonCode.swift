internal import JSON

/// A module of Python: for each service a class, and for each object a `TypedDict`.
struct PythonCode {
  private static let keywords: Set = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
  ]

  /// The names that signatures use, which a method of the same name would hide.
  private static let used: Set = [
    "Any", "Literal", "Mapping", "Sequence", "bool", "float", "int", "str",
  ]

  private(set) var text = ""

  /// The types of the present service, which come before its class.
  private var types: [String] = []
  private var typeNames = UniqueNames(reserved: [
    "Any", "Literal", "Mapping", "NotRequired", "Sequence", "TypedDict",
  ])

  init(_ interface: Interface) {
    let heading = Language.python.heading(interface).joined(separator: "\n")
    text = """
      \"""\(heading)\n\"""

      from collections.abc import Mapping, Sequence
      from typing import Any, Literal, NotRequired, TypedDict, cast

      import binder

      """
    for service in interface.services { add(service) }
    if !interface.sources.isEmpty || !interface.patterns.isEmpty {
      add(interface.sources, interface.patterns)
    }
  }

  private mutating func add(_ sources: [Interface.Source], _ patterns: [Interface.Source]) {
    var constants = ""
    let name = typeNames.name("Sources")
    var names = UniqueNames()
    text += "\n"
    for source in sources {
      let alias = typeNames.name(Identifier(source.name).pascal)
      text += "\n\(alias) = \(type(source.shape, alias, isTaken: false))\n"
      let constant = names.name(Identifier(source.name).snake.uppercased())
      constants += "\n    \(constant) = \(quoted(source.name))\n"
      constants += "    \(docstring([source.summary], indent: 4))\n"
    }
    for source in patterns {
      let alias = typeNames.name(Identifier(source.name).pascal)
      text += "\n\(alias) = \(type(source.shape, alias, isTaken: false))\n"
      let parameters = source.parameters.map { "\($0): str" }.joined(separator: ", ")
      constants += "\n    @staticmethod\n"
      constants += "    def \(names.name(Identifier(source.name).snake))(\(parameters)) -> str:\n"
      constants += "        \(docstring([source.summary], indent: 8))\n"
      constants += "        return f\(quoted(source.text { "{\($0)}" }))\n"
    }
    text += "\n\nclass \(name):\n"
    text += "    \"\"\"The sources with declared types; cells/a has the values CellsA.\"\"\"\n"
    text += constants
  }

  private mutating func add(_ service: Interface.Service) {
    let name = typeNames.name(Identifier(service.name).pascal + "Service")
    var methodNames = UniqueNames(reserved: Self.keywords.union(Self.used).union(["self"]))
    var methods = ""
    types = []
    for method in service.methods {
      methods +=
        "\n"
        + code(method, named: methodNames.name(Identifier(method.shortName).snake), of: service)
    }
    for type in types { text += "\n\n" + type }
    text += "\n\nclass \(name):\n"
    if !service.doc.isEmpty { text += "    \(docstring([service.doc], indent: 4))\n\n" }
    text +=
      "    def __init__(self, client: binder.Client) -> None:\n        self._client = client\n"
    text += methods
  }

  private mutating func code(
    _ method: Interface.Method, named name: String, of service: Interface.Service
  ) -> String {
    let stem = Identifier([service.name, method.shortName]).pascal
    var names = UniqueNames(reserved: Self.keywords.union(["self", "params"]))
    var signature = ["self"]
    var (docs, required, optional) = ([String](), [String](), "")
    for parameter in method.parameters {
      let own = names.name(Identifier(parameter.name).snake)
      let type = self.type(parameter.shape, stem + Identifier(parameter.name).pascal, isTaken: true)
      if parameter.isOptional, !signature.contains("*") { signature.append("*") }
      let isAny = parameter.shape == .any
      signature.append(
        "\(own): \(type)" + (parameter.isOptional ? isAny ? " = None" : " | None = None" : ""))
      if !parameter.doc.isEmpty { docs.append("\(own): \(parameter.doc.remark)") }
      if parameter.isOptional {
        optional +=
          "        if \(own) is not None:\n            params[\(quoted(parameter.name))] = \(own)\n"
      } else {
        required.append("\(quoted(parameter.name)): \(own)")
      }
    }
    let result = type(method.result, stem + "Result", isTaken: false)
    var code = "    async def \(name)(\(signature.joined(separator: ", "))) -> \(result):\n"
    code += "        \(docstring([method.summary] + comment(method, docs), indent: 8))\n"
    code += "        params: dict[str, Any] = {\(required.joined(separator: ", "))}\n" + optional
    let call =
      "self._client.\(method.isCommand ? "command" : "call")(\(quoted(method.name)), params)"
    return code + "        return cast(\(quoted(result)), await \(call))\n"
  }

  private func comment(_ method: Interface.Method, _ docs: [String]) -> [String] {
    var lines: [String] = []
    if !docs.isEmpty { lines += [""] + docs }
    if let rejections = method.rejections { lines += ["", rejections] }
    return lines
  }

  private func docstring(_ lines: [String], indent: Int) -> String {
    let space = String(repeating: " ", count: indent)
    let safe = lines.map {
      $0.remark.replacing("\\", with: "\\\\").replacing("\"\"\"", with: "'''")
    }
    let text = safe.joined(separator: "\n" + space).replacing("\n\(space)\n", with: "\n\n")
    // A quotation mark would end the string too early.
    let end = lines.count > 1 ? "\n" + space : text.hasSuffix("\"") ? " " : ""
    return "\"\"\"\(text)\(end)\"\"\""
  }

  /// Returns the type of a value, and adds the objects in it.
  ///
  /// - Parameter isTaken: Whether the program gives the value, so that any sequence or mapping will do.
  private mutating func type(_ shape: Shape, _ name: String, isTaken: Bool) -> String {
    switch shape {
    case .any: return "Any"
    case .bool: return "bool"
    case .integer, .natural: return "int"
    case .number: return "float"
    case .string, .text: return "str"
    case .words(let words): return "Literal[\(words.map(quoted).joined(separator: ", "))]"
    case .array(let element):
      return "\(isTaken ? "Sequence" : "list")[\(type(element, name + "Item", isTaken: isTaken))]"
    case .map(let element):
      return
        "\(isTaken ? "Mapping" : "dict")[str, \(type(element, name + "Value", isTaken: isTaken))]"
    case .either(let shapes):
      var forms: [String] = []
      for (i, shape) in shapes.enumerated() {
        let form = type(shape, name + (shapes.count > 1 ? "\(i + 1)" : ""), isTaken: isTaken)
        if !forms.contains(form) { forms.append(form) }
      }
      return forms.contains("Any") ? "Any" : forms.joined(separator: " | ")
    case .object(let members):
      let name = typeNames.name(name)
      let typed = members.map { member in
        let type = self.type(
          member.shape, name + Identifier(member.name).pascal, isTaken: isTaken)
        return (name: member.name, type: member.isOptional ? "NotRequired[\(type)]" : type)
      }
      if typed.allSatisfy({
        Identifier($0.name).snake == $0.name && !Self.keywords.contains($0.name)
      }) {
        let lines = typed.map { "    \($0.name): \($0.type)\n" }.joined()
        types.append("class \(name)(TypedDict):\n" + (lines.isEmpty ? "    pass\n" : lines))
      } else {
        let lines = typed.map { "        \(quoted($0.name)): \($0.type),\n" }.joined()
        types.append("\(name) = TypedDict(\n    \(quoted(name)),\n    {\n\(lines)    },\n)\n")
      }
      return name
    }
  }

  private func quoted(_ text: String) -> String { JSONValue.string(text).text.text }
}
