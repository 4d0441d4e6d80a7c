internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// A service that programs provide: what each of its providers has declared.
struct ProvidedService {
  enum Delivery: String {
    /// The caller waits for the answer; without a provider the call is refused.
    case direct

    /// The call is an event, and is delivered until it is answered.
    case queued
  }

  /// A method; a class, so that each call of it counts one reference.
  final class Method {
    let service: String

    /// The full name, for example `"lamp.blink"`.
    let name: String
    let doc: String
    let params: JSONSchema
    let result: JSONSchema?
    let delivery: Delivery

    init(
      service: String, name: String, doc: String, params: JSONSchema, result: JSONSchema?,
      delivery: Delivery
    ) {
      (self.service, self.name, self.doc) = (service, name, doc)
      (self.params, self.result, self.delivery) = (params, result, delivery)
    }
  }

  /// A declaration as text; equal for all providers of the service.
  struct Declaration: Codable, Equatable, Sendable {
    let doc: String
    let methods: JSONText
    let sources: JSONText?

    /// The texts of its views, by name.
    let views: JSONText?
  }

  let name: String
  let declaration: Declaration
  let methods: [String: Method]

  /// The declared sources with their documentation, by name.
  let sources: [(name: String, doc: String)]

  /// The most methods of a service, and sources that it declares.
  private static let maxParts = 64
  private static let maxDocBytes = 256

  /// Reads a declaration.
  ///
  /// - Throws: ``WireError`` `invalid_params` with the place and the rule.
  init(_ name: String, _ declaration: Declaration) throws(WireError) {
    // A segment of a source and the first part of a method.
    guard let first = name.utf8.first, UInt8(ascii: "a")...UInt8(ascii: "z") ~= first,
      name.utf8.count <= 32,
      name.utf8.allSatisfy({
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
          || $0 == UInt8(ascii: "_")
      })
    else { throw Self.fault("/service", "1 to 32 of [a-z0-9_], a letter first", "'\(name)'") }
    self.name = name
    self.declaration = declaration
    _ = try Self.doc(.string(declaration.doc), "/doc")
    let parts = JSONSchema.parts(of: declaration.methods.text.utf8.span)
    guard parts <= JSONSchema.maxParts else {
      throw Self.fault(
        "/methods", "at most \(JSONSchema.maxParts) elements and members", "\(parts)")
    }
    var found: [String: Method] = [:]
    for member in try Self.members(declaration.methods, "/methods") {
      let path = "/methods/\(member.name)"
      guard Self.isName(member.name) else {
        throw Self.fault(path, "a name of 1 to 32 of [A-Za-z0-9_]", "'\(member.name)'")
      }
      found[member.name] = try Self.method(name, member.name, member.value, path)
    }
    self.methods = found
    var declared: [(name: String, doc: String)] = []
    for member in try Self.members(declaration.sources, "/sources") {
      let example = member.name.split(separator: "/", omittingEmptySubsequences: false)
        .map { $0 == "*" || $0 == "**" ? "x" : $0 }.joined(separator: "/")
      if let rule = SourceName.fault(in: "\(name)/\(example)", of: "services") {
        throw Self.fault("/sources/\(member.name)", rule, "'\(member.name)'")
      }
      declared.append((member.name, try Self.doc(member.value, "/sources/\(member.name)")))
    }
    self.sources = declared.sorted { $0.name < $1.name }
  }

  private static func method(
    _ service: String, _ name: String, _ value: JSONValue, _ path: String
  ) throws(WireError) -> Method {
    guard case .object(let object) = value else { throw fault(path, "an object", value) }
    for member in object.members
    where !["doc", "params", "result", "delivery"].contains(member.name) {
      throw fault("\(path)/\(member.name)", "doc, params, result or delivery", member.name)
    }
    var delivery = Delivery.direct
    if let value = object["delivery"] {
      guard case .string(let text) = value, let known = Delivery(rawValue: text) else {
        throw fault("\(path)/delivery", #""direct" or "queued""#, value)
      }
      delivery = known
    }
    let params = try schema(object["params"] ?? .object([:]), "\(path)/params")
    if case .object(let given) = params.value, let type = given["type"], type != .string("object") {
      throw fault("\(path)/params/type", #""object": parameters have names"#, type)
    }
    return Method(
      service: service, name: "\(service).\(name)", doc: try doc(object["doc"], "\(path)/doc"),
      params: params,
      result: try object["result"].map { value throws(WireError) in
        try schema(value, "\(path)/result")
      },
      delivery: delivery)
  }

  private static func schema(_ value: JSONValue, _ path: String) throws(WireError) -> JSONSchema {
    do throws(JSONSchema.Fault) {
      return try JSONSchema(value)
    } catch {
      throw fault(path + error.path, error.expected, error.got)
    }
  }

  private static func members(
    _ text: JSONText?, _ path: String
  ) throws(WireError) -> [JSONObject.Member] {
    guard let text else { return [] }
    guard case .object(let object) = text.value else { throw fault(path, "an object", text.value) }
    guard object.members.count <= maxParts else {
      throw fault(path, "at most \(maxParts) members", "\(object.members.count)")
    }
    return object.members
  }

  private static func doc(_ value: JSONValue?, _ path: String) throws(WireError) -> String {
    guard let value else { return "" }
    guard case .string(let doc) = value, doc.utf8.count <= maxDocBytes else {
      throw fault(path, "a string of at most \(maxDocBytes) bytes", value)
    }
    return doc
  }

  private static func isName(_ name: String) -> Bool {
    1...32 ~= name.utf8.count
      && name.unicodeScalars.allSatisfy {
        $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0 || $0 == "_")
      }
  }

  private static func fault(_ path: String, _ rule: String, _ got: JSONValue) -> WireError {
    fault(path, rule, got.text.text.cut(toBytes: 64))
  }

  private static func fault(_ path: String, _ rule: String, _ got: String) -> WireError {
    WireError(JSONDecodingError(path: path, expected: rule, got: got))
  }
}
