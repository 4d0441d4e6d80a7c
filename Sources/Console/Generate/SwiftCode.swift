internal import JSON

/// A file of Swift: for each service a structure, with types of its parameters and results.
struct SwiftCode {
  private static let keywords: Set = [
    "Any", "Self", "as", "associatedtype", "break", "case", "catch", "class", "continue",
    "default", "defer", "deinit", "do", "else", "enum", "extension", "fallthrough", "false",
    "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is",
    "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
    "rethrows", "return", "self", "static", "struct", "subscript", "super", "switch", "throw",
    "throws", "true", "try", "typealias", "var", "where", "while",
  ]

  private(set) var text = ""
  private var serviceNames = UniqueNames()

  /// The types of the present service, which are inside its structure.
  private var types: [String] = []
  private var typeNames = UniqueNames()

  init(_ interface: Interface) {
    text = Language.swift.heading(interface).map { $0.isEmpty ? "//\n" : "// \($0)\n" }.joined()
    text += "\npublic import BinderAsync\n"
    for service in interface.services { add(service) }
    if !interface.sources.isEmpty || !interface.patterns.isEmpty {
      add(interface.sources, interface.patterns)
    }
  }

  private mutating func add(_ sources: [Interface.Source], _ patterns: [Interface.Source]) {
    text += "\n/// The sources with declared types; the type of the same name is that of the"
    text += " values.\n"
    text += "public enum \(serviceNames.name("Sources")) {\n"
    var names = UniqueNames(reserved: ["Any", "Protocol", "Self", "Type"])
    for (i, source) in sources.enumerated() {
      let name = names.name(Identifier(source.name).pascal)
      let constant = name.prefix(1).lowercased() + name.dropFirst()
      text += (i == 0 ? "" : "\n") + "  /// \(source.summary)\n"
      text += "  public static let \(safe(constant)) = \(quoted(source.name))\n"
      text += "  public typealias \(name) = \(type(source.shape, name))\n"
    }
    for source in patterns {
      let name = names.name(Identifier(source.name).pascal)
      let function = name.prefix(1).lowercased() + name.dropFirst()
      let parameters = source.parameters.map { "_ \($0): String" }.joined(separator: ", ")
      text += "\n  /// \(source.summary)\n"
      text += "  public static func \(safe(function))(\(parameters)) -> String {\n"
      text += "    \"\(source.text { "\\(\($0))" })\"\n  }\n"
      text += "  public typealias \(name) = \(type(source.shape, name))\n"
    }
    text += "}\n"
  }

  private mutating func add(_ service: Interface.Service) {
    let name = serviceNames.name(Identifier(service.name).pascal + "Service")
    var methodNames = UniqueNames(reserved: ["client"])
    var methods = ""
    types = []
    typeNames = UniqueNames(reserved: ["Any", "Protocol", "Self", "Type"])
    for method in service.methods {
      methods += "\n" + code(method, named: methodNames.name(Identifier(method.shortName).camel))
    }
    text += service.doc.isEmpty ? "\n" : "\n/// \(service.doc.remark)\n"
    text += "public struct \(name): Sendable {\n  private let client: AsyncBinderClient\n\n"
    text += "  /// Creates the calls of the service, which a client sends.\n"
    text += "  public init(_ client: AsyncBinderClient) {\n    self.client = client\n  }\n"
    text += methods + types.map { "\n" + $0 }.joined() + "}\n"
  }

  private mutating func code(_ method: Interface.Method, named name: String) -> String {
    let stem = Identifier(method.shortName).pascal
    let result = type(method.result, stem + "Result")
    let members = method.parameters.map {
      Shape.Member(name: $0.name, shape: $0.shape, isOptional: $0.isOptional)
    }
    let inputs = properties(of: members, stem)
    var code = "  /// \(method.summary)\n"
    if let rejections = method.rejections { code += "  ///\n  /// \(rejections)\n" }
    let docs = zip(inputs, method.parameters).filter { !$1.doc.isEmpty }
    if !docs.isEmpty {
      code += "  ///\n  /// - Parameters:\n"
      code += docs.map { "  ///   - \($0.bare): \($1.doc.remark)\n" }.joined()
    }
    if method.isCommand { code += "  @discardableResult\n" }
    let signature = inputs.map { "\($0.name): \($0.type)\($0.isOptional ? "? = nil" : "")" }
    code +=
      "  public func \(safe(name))(\(signature.joined(separator: ", "))) async throws -> \(result) {\n"
    let kind = method.isCommand ? "command" : "call"
    guard !inputs.isEmpty else {
      return code
        + "    try await self.client.\(kind)(\(quoted(method.name)), with: [String: String]())\n  }\n"
    }
    let params = typeNames.name(stem + "Params")
    types.append(structure(params, inputs, access: "fileprivate"))
    let arguments = inputs.map { "\(label($0.bare)): \($0.name)" }.joined(separator: ", ")
    return code
      + "    try await self.client.\(kind)(\n      \(quoted(method.name)), with: \(params)(\(arguments)))\n  }\n"
  }

  /// A property of a structure.
  private struct Property {
    let wireName: String

    /// The name without backticks.
    let bare: String
    let name: String
    let type: String
    let isOptional: Bool
  }

  private mutating func properties(of members: [Shape.Member], _ stem: String) -> [Property] {
    var names = UniqueNames(reserved: ["self"])
    return members.map { member in
      let bare = names.name(Identifier(member.name).camel)
      return Property(
        wireName: member.name, bare: bare, name: safe(bare),
        type: type(member.shape, stem + Identifier(member.name).pascal),
        isOptional: member.isOptional)
    }
  }

  private func structure(_ name: String, _ properties: [Property], access: String) -> String {
    let conforms = access == "public" ? "Codable, Hashable, Sendable" : "Encodable"
    var code = "  \(access) struct \(name): \(conforms) {\n"
    for property in properties {
      code +=
        "    \(access) var \(property.name): \(property.type)\(property.isOptional ? "?" : "")\n"
    }
    if properties.contains(where: { $0.bare != $0.wireName }) {
      code += "\n    private enum CodingKeys: String, CodingKey {\n"
      for property in properties {
        code += "      case \(property.name) = \(quoted(property.wireName))\n"
      }
      code += "    }\n"
    }
    if access == "public" {
      let signature = properties.map { "\($0.name): \($0.type)\($0.isOptional ? "? = nil" : "")" }
      code += "\n    public init(\(signature.joined(separator: ", "))) {\n"
      code += properties.map { "      self.\($0.name) = \($0.name)\n" }.joined() + "    }\n"
    }
    return code + "  }\n"
  }

  /// Returns the type of a value, and adds the objects in it.
  private mutating func type(_ shape: Shape, _ name: String) -> String {
    switch shape {
    case .any: return "JSONValue"
    case .bool: return "Bool"
    case .integer, .natural: return "Int"
    case .number: return "Double"
    // A later daemon may have more words.
    case .string, .words, .text: return "String"
    case .array(let element): return "[\(type(element, name + "Item"))]"
    case .map(let element): return "[String: \(type(element, name + "Value"))]"
    case .either(let shapes):
      if shapes.allSatisfy({ if case .object = $0 { true } else { false } }) {
        return type(.object(shape.merged), name)
      }
      return shapes.count == 1 ? type(shapes[0], name) : "JSONValue"
    case .object(let members):
      let name = typeNames.name(name)
      types.append(structure(name, properties(of: members, name), access: "public"))
      return name
    }
  }

  private func safe(_ name: String) -> String { Self.keywords.contains(name) ? "`\(name)`" : name }

  /// Returns the name before an argument, where most keywords are names.
  private func label(_ name: String) -> String {
    ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
  }

  private func quoted(_ text: String) -> String { JSONValue.string(text).text.text }
}

extension Shape {
  /// The members of all forms; one that a form does not have may be missing.
  fileprivate var merged: [Member] {
    let all = forms.map(\.members)
    var names: [String] = []
    for name in all.flatMap({ $0 }).map(\.name) where !names.contains(name) { names.append(name) }
    return names.map { name in
      let known = all.compactMap { members in members.first { $0.name == name } }
      let shape = known[0].shape
      return Member(
        name: name, shape: known.allSatisfy { $0.shape == shape } ? shape : .any,
        isOptional: known.count < all.count || known.contains(where: \.isOptional))
    }
  }
}
