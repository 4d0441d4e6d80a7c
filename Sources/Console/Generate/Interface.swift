package import JSON
package import Model

/// The services of a daemon with the types of their methods, read from an answer to `rpc.discover`.
package struct Interface: Equatable, Sendable {
  /// A service with its methods.
  package struct Service: Equatable, Sendable {
    package let name: String
    package let doc: String
    package let methods: [Method]
  }

  /// A method of a service.
  package struct Method: Equatable, Sendable {
    /// The full name, for example `cells.add`.
    package let name: String
    package let doc: String

    /// The parameters; those that may be left out come last.
    package let parameters: [Parameter]
    package let result: Shape

    /// The reasons with which the service rejects a call.
    package let reasons: [String]

    /// Whether a repeated call with the same idempotency key takes effect once.
    package let isCommand: Bool

    /// The name without that of the service.
    package var shortName: String {
      String(name[(name.lastIndex(of: ".") ?? name.startIndex)...].dropFirst())
    }
  }

  /// A parameter of a method.
  package struct Parameter: Equatable, Sendable {
    package let name: String
    package let doc: String
    package let shape: Shape
    package let isOptional: Bool
  }

  /// A source with a declared type, or all sources that a pattern matches.
  package struct Source: Equatable, Sendable {
    /// The full name, for example `cells/hall/celsius`, or a pattern such as `cells/*/celsius`.
    package let name: String
    package let type: ValueType

    package init(_ name: String, _ type: ValueType) {
      (self.name, self.type) = (name, type)
    }

    /// The shape of its values; the type of a list or map is that of each element.
    var shape: Shape {
      let each = type.shape
      // The pattern matches maps and their values.
      if name.hasPrefix("maps/"), name.hasSuffix("**") { return .any }
      if name.hasPrefix("lists/") { return .array(each) }
      return name.hasPrefix("maps/") && name.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 1
        ? .map(each) : each
    }

    /// Whether the name is a pattern.
    var isPattern: Bool { name.utf8.contains(UInt8(ascii: "*")) }

    /// The name of a parameter for each wildcard: `name`, or `name1` and so on.
    var parameters: [String] {
      let count = name.split(separator: "/").count { $0.first == "*" }
      return count == 1 ? ["name"] : (1...max(count, 1)).map { "name\($0)" }
    }

    /// Returns the pattern with its parameters in the place of the wildcards.
    ///
    /// - Parameter insertion: Returns the code that inserts a parameter into a text.
    func text(_ insertion: (_ parameter: String) -> String) -> String {
      var left = parameters[...]
      return name.split(separator: "/").map { segment in
        segment.first == "*" ? insertion(left.popFirst() ?? "name") : String(segment)
      }.joined(separator: "/")
    }

    /// A line about the values.
    var summary: String {
      [type.title, "\(type.rule)."].compactMap(\.self).joined(separator: ": ").remark
    }
  }

  /// The version of the daemon.
  package let version: String

  /// The single sources with declared types, by name.
  package let sources: [Source]

  /// The patterns of sources with declared types, by name.
  package let patterns: [Source]

  /// The services by name; the daemon's own methods belong to none.
  package let services: [Service]

  /// Reads documents of OpenRPC, each of some services.
  ///
  /// - Parameters:
  ///   - docs: The descriptions of the services.
  ///   - sources: The sources with declared types.
  package init(
    _ documents: [JSONObject], docs: [String: String] = [:], sources: [Source] = []
  ) {
    let sorted = sources.sorted { $0.name < $1.name }
    self.sources = sorted.filter { !$0.isPattern }
    patterns = sorted.filter { $0.isPattern && $0.name.first != "*" }
    var version = ""
    var methods: [String: [Method]] = [:]
    for document in documents {
      let reader = SchemaReader(document)
      version = document.member("info")?.word("version") ?? version
      for method in document.list("methods").compactMap({ reader.method($0) }) {
        methods[String(method.name.dropLast(method.shortName.count + 1)), default: []].append(
          method)
      }
    }
    self.version = version
    services = methods.keys.sorted().map { name in
      Service(name: name, doc: docs[name] ?? "", methods: methods[name] ?? [])
    }
  }
}

/// Reads the methods and the schemas of a document.
private struct SchemaReader {
  private let schemas: JSONObject
  private let descriptors: JSONObject

  /// The most schemas within each other, because a schema may refer to itself.
  private static let maxDepth = 32

  init(_ document: JSONObject) {
    let components = document.member("components")
    schemas = components?.member("schemas") ?? [:]
    descriptors = components?.member("contentDescriptors") ?? [:]
  }

  /// Returns a method of a service; `nil` for one of the daemon's own.
  func method(_ object: JSONObject) -> Interface.Method? {
    guard let name = object.word("name"), name.contains(".") else { return nil }
    let parameters = object.list("params").compactMap { parameter($0) }
    let result = shape(object.member("result")?["schema"] ?? .bool(true))
    let reasons = object.list("errors").flatMap { $0.member("data")?.words("reason") ?? [] }
    return Interface.Method(
      name: name, doc: object.word("summary") ?? "",
      parameters: parameters.filter { !$0.isOptional } + parameters.filter(\.isOptional),
      result: result, reasons: reasons,
      isCommand: result.forms.contains { $0.members.contains { $0.name == "replayed" } })
  }

  /// Returns a parameter; `nil` for the options of all calls.
  private func parameter(_ object: JSONObject) -> Interface.Parameter? {
    let object = referred(object, in: descriptors) ?? object
    guard let name = object.word("name"), name != "_meta" else { return nil }
    return Interface.Parameter(
      name: name, doc: object.word("description") ?? "",
      shape: shape(object["schema"] ?? .bool(true)), isOptional: object["required"] != .bool(true))
  }

  private func referred(_ object: JSONObject, in parts: JSONObject) -> JSONObject? {
    object.word("$ref").flatMap { $0.split(separator: "/").last }.flatMap {
      parts.member(String($0))
    }
  }

  private func shape(_ schema: JSONValue, depth: Int = 0) -> Shape {
    guard case .object(let object) = schema, depth < Self.maxDepth else { return .any }
    func inner(_ schema: JSONValue) -> Shape { shape(schema, depth: depth + 1) }
    if let referred = referred(object, in: schemas) { return inner(.object(referred)) }
    if case .array(let forms)? = object["anyOf"] { return .either(forms.map(inner)) }
    if case .array(let words)? = object["enum"] {
      let strings = object.words("enum")
      return strings.count == words.count ? .words(strings) : .any
    }
    switch object.word("type") {
    case "boolean": return .bool
    case "integer": return .integer
    case "number": return .number
    case "string": return .string
    case "array": return .array(inner(object["items"] ?? .bool(true)))
    case "object":
      guard let properties = object.member("properties") else {
        return .map(inner(object["additionalProperties"] ?? .bool(true)))
      }
      let required = Set(object.words("required"))
      return .object(
        properties.members.map { member in
          Shape.Member(
            name: member.name, shape: inner(member.value),
            isOptional: !required.contains(member.name))
        })
    default: return .any
    }
  }
}

extension Shape {
  /// The shapes of which a value has one.
  var forms: [Shape] {
    if case .either(let shapes) = self { shapes.flatMap(\.forms) } else { [self] }
  }
}

extension JSONObject {
  fileprivate func member(_ name: String) -> JSONObject? {
    if case .object(let object)? = self[name] { object } else { nil }
  }

  fileprivate func word(_ name: String) -> String? {
    if case .string(let string)? = self[name] { string } else { nil }
  }

  fileprivate func list(_ name: String) -> [JSONObject] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements.compactMap { if case .object(let object) = $0 { object } else { nil } }
  }

  fileprivate func words(_ name: String) -> [String] {
    guard case .array(let elements)? = self[name] else { return [] }
    return elements.compactMap { if case .string(let string) = $0 { string } else { nil } }
  }
}
