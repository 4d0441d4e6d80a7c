import JSON
import TestSupport
import Testing

/// The lines of the daemon, held against `Protocol/server-frame.schema.json`: every line that any
/// test sees.
enum Frames {
  static let schema = Schema(named: "server-frame.schema.json")

  static func check(_ line: String) {
    guard let value = try? JSONValue(parsing: line) else {
      Issue.record("no JSON: \(line.prefix(200))")
      return
    }
    if let fault = schema.fault(in: value) {
      Issue.record("\(fault): \(line.prefix(300))")
    }
  }
}

/// A JSON Schema (draft 2020-12), as far as those in `Protocol/` use it.
final class Schema: Sendable {
  private let root: JSONValue

  init(named name: String) {
    let path = #filePath.replacing("Tests/DaemonTests/Frames.swift", with: "Protocol/\(name)")
    root = (try? JSONValue(parsing: Files.text(of: path))) ?? .bool(false)
  }

  init(_ root: JSONValue) {
    self.root = root
  }

  /// The place and the rule that is broken first; `nil` when none is.
  func fault(in value: JSONValue) -> String? { fault(value, root, "") }

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
      ("description", _, _), ("$comment", _, _):
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

  /// `#/$defs/name`.
  private func definition(_ reference: String) -> JSONValue {
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
