internal import Connections
internal import JSON
internal import Wire

/// The methods as an OpenRPC document: <https://spec.open-rpc.org/>, version 1.2.6.
///
/// The document of all methods is longer than a line of the default length. To keep it short,
/// repeated parts are shared by reference, and default values are omitted.
extension Rights {
  /// Returns the document of the methods of a service, or of all methods.
  ///
  /// A service may have sources and no methods.
  ///
  /// - Parameter room: The bytes of the longest document.
  /// - Throws: ``WireError``: `not_found`, or `result_too_large` for more methods than can fit.
  func openRPC(version: String, of service: String?, room: Int) throws(WireError) -> JSONValue {
    let methods = service.map { self.methods(ofService: $0) } ?? allMethods
    if let service, methods.isEmpty, !isService(service) {
      let names = catalog.services.filter(isVisible).map(\.name)
      let others = catalog.provided.near(service).filter(isVisible).map(\.name)
      throw .notFound(
        "service", service, didYouMean: Wire.nearest(to: service, among: names + others))
    }
    let least = methods.count * Self.minMethodBytes
    guard least <= room else { throw .resultTooLarge(least, max: room) }
    var shared = SharedParts()
    for method in methods {
      shared.count(schemasOf: method.result.schema)
      for parameter in method.parameters {
        shared.count(descriptor: Self.descriptor(parameter, isOpen: method.takesUnknown))
      }
    }
    let described = methods.map { method -> JSONValue in
      let parameters = method.parameters.map { parameter in
        shared.descriptor(
          Self.descriptor(parameter, isOpen: method.takesUnknown), named: parameter.name)
      }
      let options: JSONValue = .object(["$ref": .string("#/components/contentDescriptors/_meta")])
      var object: JSONObject = [
        "name": .string(method.name), "summary": .string(method.doc),
        "params": .array(parameters + [options]),
        "result": .object([
          "name": .string("result"), "schema": shared.schema(method.result.schema),
        ]),
      ]
      let errors = Self.errors(of: method)
      if !errors.isEmpty { object["errors"] = .array(errors) }
      return .object(object)
    }
    return .object([
      "openrpc": .string("1.2.6"),
      "info": .object(["title": .string("binderd"), "version": .string(version)]),
      "methods": .array(described),
      "components": .object(shared.components(besides: ["_meta": Self.options])),
    ])
  }

  /// Whether a service exists for the role, one of the daemon.
  private func isService(_ name: String) -> Bool {
    catalog.service(named: name).map(isVisible) ?? false
  }

  /// The bytes of the shortest description of a method.
  private static let minMethodBytes = 120

  private static func descriptor(_ parameter: Method.Parameter, isOpen: Bool) -> JSONValue {
    var described: JSONObject = ["name": .string(parameter.name)]
    if let doc = parameter.doc { described["description"] = .string(doc) }
    if !parameter.isOptional { described["required"] = .bool(true) }
    described["schema"] = parameter.shape.schema(isOpen: isOpen)
    return .object(described)
  }

  /// The `_meta` options that every call accepts, by name only.
  private static let options: JSONValue = {
    let stream = Shape.either([.natural, .words(["none", "exists", "any"])])
    let shape = Shape.object([
      .optional("cmd", .string), .optional("expect", .map(stream)),
      .optional("wait", .words(["disk", "policy"])), .optional("timeout_ms", .natural),
      .optional("lease", .either([.string, .object([.init("ttl_ms", .natural)])])),
    ])
    return .object([
      "name": .string("_meta"),
      "description": .string(
        "Options of the call: cmd is an idempotency key, expect the versions that streams must have,"
          + " wait what the answer waits for, timeout_ms how long, lease with what written values"
          + " end. By name only."),
      "required": .bool(false), "schema": shape.schema(isOpen: true),
    ])
  }()

  /// Returns the errors that a method may reject with, as one entry because a code may occur only
  /// once.
  private static func errors(of method: Method) -> [JSONValue] {
    guard !method.errors.isEmpty else { return [] }
    return [
      .object([
        "code": .number(JSONNumber(ErrorName.rejected.code)),
        "message": .string(ErrorName.rejected.rawValue),
        "data": .object(["reason": .array(method.errors.map { .string($0) })]),
      ])
    ]
  }
}

extension JSONObject {
  /// Whether the object is a schema, rather than the named members of one.
  fileprivate var isSchema: Bool {
    switch (self["type"], self["anyOf"], self["enum"]) {
    case (.string?, _, _), (_, .array?, _), (_, _, .array?): true
    default: false
    }
  }
}

/// Repeated parts of a document that are replaced by references.
private struct SharedParts {
  /// The size in bytes from which a reference is shorter than the part.
  private static let minBytes = 50

  private var counts: [String: Int] = [:]
  private var schemas = JSONObject()
  private var descriptors = JSONObject()
  private var names: [String: String] = [:]

  mutating func count(schemasOf value: JSONValue) {
    switch value {
    case .object(let object):
      counts[value.text.text, default: 0] += 1
      for member in object.members { count(schemasOf: member.value) }
    case .array(let elements): for element in elements { count(schemasOf: element) }
    default: break
    }
  }

  mutating func count(descriptor value: JSONValue) { counts[value.text.text, default: 0] += 1 }

  private func isShared(_ text: String) -> Bool {
    text.utf8.count >= Self.minBytes && counts[text, default: 0] > 1
  }

  /// Returns a schema in which repeated parts are references.
  mutating func schema(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      let text = value.text.text
      guard object.isSchema, isShared(text) else { return .object(parts(of: object)) }
      if names[text] == nil {
        let name = "s\(names.count + 1)"
        names[text] = name
        schemas[name] = .object(parts(of: object))
      }
      return .object(["$ref": .string("#/components/schemas/\(names[text] ?? "")")])
    case .array(let elements): return .array(elements.map { schema($0) })
    default: return value
    }
  }

  private mutating func parts(of object: JSONObject) -> JSONObject {
    var parts = JSONObject()
    for member in object.members { parts[member.name] = schema(member.value) }
    return parts
  }

  /// Returns a parameter, or a reference to it if it is repeated.
  mutating func descriptor(_ value: JSONValue, named name: String) -> JSONValue {
    let text = value.text.text
    guard isShared(text) else { return value }
    if names[text] == nil {
      var free = name
      while descriptors[free] != nil { free += "_" }
      names[text] = free
      descriptors[free] = value
    }
    return .object(["$ref": .string("#/components/contentDescriptors/\(names[text] ?? "")")])
  }

  /// Returns the components that the references point to.
  func components(besides others: JSONObject) -> JSONObject {
    var descriptors = descriptors
    for other in others.members { descriptors[other.name] = other.value }
    return ["schemas": .object(schemas), "contentDescriptors": .object(descriptors)]
  }
}
