internal import Connections
internal import JSON
internal import Wire

/// The methods as an OpenRPC document: <https://spec.open-rpc.org/>, version 1.2.6.
///
/// The document of all methods is longer than a line of the default length. To keep it short,
/// repeated parts are shared by reference, and default values are omitted.
///
/// It is written in slices of the client's time.
final class OpenRPCDocument: PartialRequest {
  private let rights: Rights
  private let room: Int

  /// The methods, and the services made of programs whose methods are not among them yet.
  private var methods: [Method]
  private var programs: ArraySlice<String>
  private var shared = SharedParts()

  /// The methods whose repeated parts were counted, and those that were written.
  private var counted = 0
  private var written = 0
  private var components: JSONObject?
  private var writtenComponents = 0
  private var text = ByteBuffer()

  /// - Parameters:
  ///   - service: The service whose methods are described; `nil` for all services.
  ///   - rights: The rights of the client.
  ///   - room: The bytes of the longest document.
  /// - Throws: `not_found`.
  init(of server: ServerInfo, _ service: String?, _ rights: Rights, room: Int) throws(WireError) {
    (self.rights, self.room) = (rights, room)
    if let service {
      (methods, programs) = (try rights.describedMethods(of: service), [])
    } else {
      (methods, programs) = (rights.methods.methods, rights.catalog.provided.names()[...])
    }
    super.init()
    let info: JSONObject = ["title": .string(server.name), "version": .string(server.version)]
    text.append(#"{"openrpc":"1.2.6","info":"#)
    JSONValue.object(info).write(to: &text)
    text.append(#","methods":["#)
  }

  func write(to buffer: inout ByteBuffer) { buffer.append(text) }

  private func check(_ size: Int) throws(WireError) {
    guard size <= room else { throw .resultTooLarge(size, max: room) }
  }

  override func goOn(_ slice: Slice) throws -> Bool {
    while let program = programs.popFirst() {
      // A declaration may be read for the first time.
      methods += rights.methods(ofProgram: program)
      try check(methods.count * Rights.minMethodBytes)
      if slice.isOver(steps: PartialRequest.atOnce) { return false }
    }
    // Parts that are repeated are known after all were counted.
    while counted < methods.count {
      let method = methods[counted]
      shared.count(schemasOf: method.result.schema)
      for parameter in method.parameters {
        shared.count(descriptor: Rights.descriptor(parameter, isOpen: method.takesUnknown))
      }
      counted += 1
      if slice.isOver(steps: PartialRequest.atOnce) { return false }
    }
    while written < methods.count {
      text.separate()
      JSONValue.object(describe(methods[written])).write(to: &text)
      written += 1
      try check(text.count)
      if slice.isOver(steps: PartialRequest.atOnce) { return false }
    }
    return try writeComponents(slice)
  }

  private func describe(_ method: Method) -> JSONObject {
    let parameters = method.parameters.map { parameter in
      shared.descriptor(
        Rights.descriptor(parameter, isOpen: method.takesUnknown), named: parameter.name)
    }
    let options: JSONValue = .object(["$ref": .string("#/components/contentDescriptors/_meta")])
    var object: JSONObject = [
      "name": .string(method.name), "summary": .string(method.doc),
      "params": .array(parameters + [options]),
      "result": .object([
        "name": .string("result"), "schema": shared.schema(method.result.schema),
      ]),
    ]
    let errors = Rights.errors(of: method)
    if !errors.isEmpty { object["errors"] = .array(errors) }
    return object
  }

  private func writeComponents(_ slice: Slice) throws -> Bool {
    let kinds = shared.components(besides: ["_meta": Rights.options])
    let all = kinds.flatMap { kind in kind.members.map { (kind.name, $0.name, $0.value) } }
    if writtenComponents == 0 { text.append(#"],"components":{"#) }
    while writtenComponents < all.count {
      let (kind, name, value) = all[writtenComponents]
      if writtenComponents == 0 || all[writtenComponents - 1].0 != kind {
        if writtenComponents > 0 { text.append(UInt8(ascii: "}")) }
        text.key(quoted: kind)
        text.append(UInt8(ascii: "{"))
      }
      text.key(quoted: name)
      value.write(to: &text)
      writtenComponents += 1
      try check(text.count)
      if slice.isOver(steps: PartialRequest.atOnce) { return false }
    }
    text.append("}}}")
    return true
  }
}

extension Rights {
  /// Returns the methods of a service.
  ///
  /// A service may have sources and no methods.
  ///
  /// - Throws: `not_found`.
  fileprivate func describedMethods(of service: String) throws(WireError) -> [Method] {
    let methods = self.methods(ofService: service)
    if methods.isEmpty, !isService(service) {
      let names = catalog.services.filter(isVisible).map(\.name)
      let others = catalog.provided.near(service).filter(isVisible).map(\.name)
      throw .notFound(
        "service", service, didYouMean: Wire.nearest(to: service, among: names + others))
    }
    return methods
  }

  /// Whether a service exists for the role, one of the daemon.
  private func isService(_ name: String) -> Bool {
    catalog.service(named: name).map(isVisible) ?? false
  }

  /// The bytes of the shortest description of a method.
  fileprivate static let minMethodBytes = 120

  fileprivate static func descriptor(_ parameter: Method.Parameter, isOpen: Bool) -> JSONValue {
    var described: JSONObject = ["name": .string(parameter.name)]
    if let doc = parameter.doc { described["description"] = .string(doc) }
    if !parameter.isOptional { described["required"] = .bool(true) }
    described["schema"] = parameter.shape.schema(isOpen: isOpen)
    return .object(described)
  }

  /// The `_meta` options that every call accepts, by name only.
  fileprivate static let options: JSONValue = {
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
  fileprivate static func errors(of method: Method) -> [JSONValue] {
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

  /// Returns the components that the references point to, by kind.
  func components(
    besides others: JSONObject
  ) -> [(name: String, members: [JSONObject.Member])] {
    [
      ("schemas", schemas.members),
      ("contentDescriptors", descriptors.members + others.members),
    ]
  }
}
