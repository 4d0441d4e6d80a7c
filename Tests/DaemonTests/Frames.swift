import JSON
import TestSupport
import Testing

/// Checks every line that any test receives against `Protocol/server-frame.schema.json`.
enum Frames {
  static let schema = Schema(named: "server-frame.schema.json")

  /// - Parameter requests: The pending requests, to check each result by its method.
  static func check(_ line: String, _ requests: AskedMethods? = nil) {
    guard let value = try? JSONValue(parsing: line, maxMembers: JSONLimits.anyMembers) else {
      Issue.record("no JSON: \(line.prefix(200))")
      return
    }
    if let fault = schema.fault(in: value) {
      Issue.record("\(fault): \(line.prefix(300))")
    }
    for (method, result) in requests?.results(in: value) ?? [] {
      if let fault = schema.fault(in: result, as: "results/\(method)") {
        Issue.record("\(method)\(fault): \(line.prefix(300))")
      }
    }
  }
}

/// The methods of the pending requests of a connection, by id.
final class AskedMethods {
  private var methods: [String: [String]] = [:]

  /// The service that tests provide: its providers declare its results.
  private static let provided = "lamp."

  /// Called with each result, in addition to the check.
  var onResult: ((_ method: String, _ frame: JSONObject) -> Void)?

  /// Records the requests in sent bytes.
  func sent(_ bytes: [UInt8]) {
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.count < 1 << 16 {
      guard let value = try? JSONValue(parsing: Array(line).span) else { continue }
      if case .array(let requests) = value {
        for request in requests { note(request) }
      } else {
        note(value)
      }
    }
  }

  private func note(_ request: JSONValue) {
    guard case .object(let request) = request, let id = request["id"],
      case .string(let method)? = request["method"], !method.hasPrefix(Self.provided)
    else { return }
    methods[id.text.text, default: []].append(method)
  }

  /// Returns the results of a line and their methods.
  func results(in line: JSONValue) -> [(method: String, result: JSONValue)] {
    let frames = if case .array(let frames) = line { frames } else { [line] }
    return frames.compactMap { frame in
      guard case .object(let frame) = frame, let id = frame["id"]?.text.text,
        let method = methods[id]?.first
      else { return nil }
      methods[id]?.removeFirst()
      // Answers to a reused id may arrive in any order.
      guard methods[id]?.isEmpty == true else { return nil }
      methods[id] = nil
      guard let result = frame["result"] else { return nil }
      onResult?(method, frame)
      return (method, result)
    }
  }
}

/// A JSON Schema (draft 2020-12), as far as `Protocol/` uses the language.
final class Schema: Sendable {
  private let root: JSONValue

  init(named name: String) {
    let path = #filePath.replacing("Tests/DaemonTests/Frames.swift", with: "Protocol/\(name)")
    root = (try? JSONValue(parsing: Files.text(of: path))) ?? .bool(false)
  }

  init(_ root: JSONValue) {
    self.root = root
  }

  /// Returns the first broken rule and its place; `nil` if the value is valid.
  ///
  /// - Parameter name: A definition of the schema; `nil` for the whole schema.
  func fault(in value: JSONValue, as name: String? = nil) -> String? {
    fault(value, name.map { definition("#/$defs/" + $0) } ?? root, "")
  }

  /// Returns invalid values that differ from a valid one in one place.
  ///
  /// Members are missing, unknown, or of another type. Values of any type are unchanged.
  func mutations(of value: JSONValue, as name: String) -> [JSONValue] {
    mutations(value, definition("#/$defs/" + name))
  }

  private func mutations(_ value: JSONValue, _ schema: JSONValue) -> [JSONValue] {
    guard case .object(let rules) = schema else { return [] }
    if case .string(let name)? = rules["$ref"] { return mutations(value, definition(name)) }
    if case .array(let forms)? = rules["anyOf"] {
      let found = forms.first { fault(value, $0, "") == nil }.map { mutations(value, $0) } ?? []
      // A number in one form may be a string in another; an object has one form.
      if case .object = value { return found }
      return found.filter { fault($0, .object(rules), "") != nil }
    }
    let others: [JSONValue] = [
      .null, .bool(true), .number(JSONNumber(-1)), .string("?"), .array([.null]),
      .object(["?": .null]),
    ]
    var found = others.filter { fault($0, schema, "") != nil }
    switch value {
    case .array(let elements):
      for (i, element) in elements.enumerated().prefix(3) {
        for changed in mutations(element, rules["items"] ?? .bool(true)) {
          found.append(.array(elements.enumerated().map { $0.offset == i ? changed : $0.element }))
        }
      }
    case .object(let object):
      found += mutations(object, rules)
    default: break
    }
    return found
  }

  private func mutations(_ object: JSONObject, _ rules: JSONObject) -> [JSONValue] {
    var found: [JSONValue] = []
    if rules["additionalProperties"] == .bool(false) {
      var more = object
      more["unknown"] = .null
      found.append(.object(more))
    }
    if case .array(let required)? = rules["required"] {
      for case .string(let name) in required {
        var less = JSONObject()
        for member in object.members where member.name != name { less[member.name] = member.value }
        found.append(.object(less))
      }
    }
    let properties: JSONObject =
      if case .object(let known)? = rules["properties"] { known } else { [:] }
    for member in object.members {
      let schema = properties[member.name] ?? rules["additionalProperties"] ?? .bool(true)
      for changed in mutations(member.value, schema) {
        var other = object
        other[member.name] = changed
        found.append(.object(other))
      }
    }
    return found
  }

  private func fault(_ value: JSONValue, _ schema: JSONValue, _ path: String) -> String? {
    guard case .object(let schema) = schema else {
      return schema == .bool(false) ? "\(path): nothing may stand here" : nil
    }
    for member in schema.members {
      if let fault = fault(value, member.name, member.value, schema, path) { return fault }
    }
    return nil
  }

  private func fault(
    _ value: JSONValue, _ rule: String, _ operand: JSONValue, _ schema: JSONObject, _ path: String
  ) -> String? {
    func check(_ isRight: Bool) -> String? { isRight ? nil : "\(path): \(rule) \(operand.text)" }
    switch (rule, operand, value) {
    case ("$schema", _, _), ("$id", _, _), ("title", _, _), ("$defs", _, _), ("then", _, _),
      ("description", _, _), ("examples", _, _), ("$comment", _, _):
      return nil
    case ("$ref", .string(let name), _): return fault(value, definition(name), path)
    case ("type", .string(let type), _): return check(value.isOf(type))
    case ("type", .array(let types), _):
      return check(
        types.contains { type in
          if case .string(let type) = type { value.isOf(type) } else { false }
        })
    case ("const", _, _): return check(value == operand)
    case ("enum", .array(let values), _): return check(values.contains(value))
    case ("anyOf", .array(let schemas), _):
      return check(schemas.contains { fault(value, $0, path) == nil })
    case ("oneOf", .array(let schemas), _):
      return check(schemas.count { fault(value, $0, path) == nil } == 1)
    case ("not", _, _): return check(fault(value, operand, path) != nil)
    case ("allOf", .array(let schemas), _):
      return schemas.lazy.compactMap { self.fault(value, $0, path) }.first
    case ("if", _, _):
      return fault(value, operand, path) == nil
        ? fault(value, schema["then"] ?? .bool(true), path) : nil
    case ("required", .array(let names), .object(let object)):
      return check(
        names.allSatisfy { name in
          if case .string(let name) = name { object[name] != nil } else { false }
        })
    case ("properties", .object(let properties), .object(let object)):
      return object.members.lazy.compactMap { member in
        properties[member.name].flatMap {
          self.fault(member.value, $0, path + "/" + member.name)
        }
      }.first
    case ("additionalProperties", _, .object(let object)):
      let known = if case .object(let known)? = schema["properties"] { known } else { JSONObject() }
      return object.members.lazy.filter { known[$0.name] == nil }.compactMap {
        self.fault($0.value, operand, path + "/" + $0.name)
      }.first
    case ("items", _, .array(let elements)):
      return elements.enumerated().lazy.compactMap {
        self.fault($0.element, operand, path + "/\($0.offset)")
      }.first
    case ("minProperties", .number(let count), .object(let object)):
      return check(object.members.count >= Int(count.int64 ?? 0))
    case ("minItems", .number(let count), .array(let elements)):
      return check(elements.count >= Int(count.int64 ?? 0))
    case ("maxItems", .number(let count), .array(let elements)):
      return check(elements.count <= Int(count.int64 ?? 0))
    case ("minLength", .number(let count), .string(let text)):
      return check(text.unicodeScalars.count >= Int(count.int64 ?? 0))
    case ("maxLength", .number(let count), .string(let text)):
      return check(text.unicodeScalars.count <= Int(count.int64 ?? 0))
    case ("minimum", .number(let limit), .number(let number)):
      return check(number.double >= limit.double)
    case ("maximum", .number(let limit), .number(let number)):
      return check(number.double <= limit.double)
    case ("pattern", .string(let pattern), .string(let text)):
      guard let regex = try? Regex(pattern) else { return "\(path): no pattern \(pattern)" }
      return check(text.firstMatch(of: regex) != nil)
    case ("required", _, _), ("properties", _, _), ("additionalProperties", _, _),
      ("items", _, _), ("minProperties", _, _), ("minItems", _, _), ("maxItems", _, _),
      ("minLength", _, _),
      ("maxLength", _, _), ("minimum", _, _), ("maximum", _, _), ("pattern", _, _):
      return nil  // for other types of value
    default:
      return "\(path): the schema says \(rule), which is not understood"
    }
  }

  /// Returns the target of a reference such as `#/$defs/name`.
  func definition(_ reference: String) -> JSONValue {
    reference.split(separator: "/").dropFirst().reduce(root) { value, name in
      if case .object(let object) = value {
        object[String(name)] ?? .bool(false)
      } else {
        .bool(false)
      }
    }
  }
}

extension JSONValue {
  fileprivate func isOf(_ type: String) -> Bool {
    switch (type, self) {
    case ("null", .null), ("boolean", .bool), ("string", .string), ("array", .array),
      ("object", .object), ("number", .number):
      true
    case ("integer", .number(let number)): number.int64 != nil
    default: false
    }
  }
}
