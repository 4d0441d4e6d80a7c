import JSON
import TestSupport

/// A JSON Schema (draft 2020-12), as far as `Protocol/` uses the language.
///
/// It is compiled once, because tests check hundreds of thousands of lines.
final class Schema: Sendable {
  private let root: JSONValue
  private let rules: Rules

  /// The compiled definitions, by reference, for example `#/$defs/results/cells.get`.
  private let definitions: [String: Rules]

  convenience init(named name: String) {
    let path = #filePath.replacing("Tests/DaemonTests/Schema.swift", with: "Protocol/\(name)")
    self.init((try? JSONValue(parsing: Files.text(of: path))) ?? .bool(false))
  }

  init(_ root: JSONValue) {
    self.root = root
    rules = Rules(root)
    var definitions: [String: Rules] = [:]
    for reference in Self.references(in: root) + Self.names(in: root)
    where definitions[reference] == nil {
      definitions[reference] = Rules(Self.target(of: reference, in: root))
    }
    self.definitions = definitions
  }

  /// Returns the first broken rule and its place; `nil` if the value is valid.
  ///
  /// - Parameter name: A definition of the schema; `nil` for the whole schema.
  func fault(in value: JSONValue, as name: String? = nil) -> String? {
    let reference = name.map { "#/$defs/" + $0 }
    let rules = reference.map { definitions[$0] ?? Rules(definition($0)) } ?? self.rules
    return rules.fault(in: value, definitions)?.description
  }

  private func isValid(_ value: JSONValue, _ schema: JSONValue) -> Bool {
    Rules(schema).fault(in: value, definitions) == nil
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
      let found = forms.first { isValid(value, $0) }.map { mutations(value, $0) } ?? []
      // A number in one form may be a string in another; an object has one form.
      if case .object = value { return found }
      return found.filter { !isValid($0, schema) }
    }
    let others: [JSONValue] = [
      .null, .bool(true), .number(JSONNumber(-1)), .string("?"), .array([.null]),
      .object(["?": .null]),
    ]
    var found = others.filter { !isValid($0, schema) }
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

  /// Returns the target of a reference such as `#/$defs/name`.
  func definition(_ reference: String) -> JSONValue { Self.target(of: reference, in: root) }

  private static func target(of reference: String, in root: JSONValue) -> JSONValue {
    reference.split(separator: "/").dropFirst().reduce(root) { value, name in
      if case .object(let object) = value {
        object[String(name)] ?? .bool(false)
      } else {
        .bool(false)
      }
    }
  }

  /// Returns the references to all definitions, also to those of results.
  private static func names(in root: JSONValue) -> [String] {
    ["#/$defs", "#/$defs/results"].flatMap { path -> [String] in
      guard case .object(let object) = target(of: path, in: root) else { return [] }
      return object.members.map { "\(path)/\($0.name)" }
    }
  }

  /// Returns the references in a part of a schema, some more than once.
  private static func references(in value: JSONValue) -> [String] {
    switch value {
    case .array(let elements): elements.flatMap(references)
    case .object(let object):
      object.members.flatMap { member in
        if member.name == "$ref", case .string(let reference) = member.value { return [reference] }
        return references(in: member.value)
      }
    default: []
    }
  }
}

/// A rule that a value breaks.
private struct Fault: CustomStringConvertible {
  /// The names and indexes that lead to the value, the last first.
  private var place: [String] = []
  private let rule: String
  private let operand: JSONValue

  init(_ rule: String, _ operand: JSONValue) {
    (self.rule, self.operand) = (rule, operand)
  }

  func inside(_ name: String) -> Fault {
    var fault = self
    fault.place.append(name)
    return fault
  }

  var description: String {
    place.reversed().map { "/" + $0 }.joined() + ": \(rule) \(operand.text)"
  }
}

/// The compiled rules of one object of a schema.
private final class Rules: Sendable {
  typealias Definitions = [String: Rules]

  private let checks: [@Sendable (_ value: JSONValue, _ definitions: Definitions) -> Fault?]

  init(_ schema: JSONValue) {
    if case .object(let object) = schema {
      checks = object.members.compactMap { Self.check($0.name, $0.value, object) }
    } else {
      checks = schema == .bool(false) ? [{ _, _ in Fault("nothing is allowed here:", schema) }] : []
    }
  }

  /// Returns the first broken rule; `nil` if the value is valid.
  func fault(in value: JSONValue, _ definitions: Definitions) -> Fault? {
    for check in checks {
      if let fault = check(value, definitions) { return fault }
    }
    return nil
  }

  private typealias Check = @Sendable (JSONValue, Definitions) -> Fault?

  /// Compiles a rule; a rule for other types of value holds.
  ///
  /// - Parameter schema: The object with the rule.
  /// - Returns: The check; `nil` if there is nothing to check.
  private static func check(
    _ rule: String, _ operand: JSONValue, _ schema: JSONObject
  ) -> Check? {
    let fault = Fault(rule, operand)
    switch (rule, operand) {
    case ("$schema", _), ("$id", _), ("title", _), ("$defs", _), ("then", _), ("description", _),
      ("examples", _), ("$comment", _):
      return nil
    case ("$ref", .string(let name)):
      return { value, definitions in
        guard let rules = definitions[name] else { return fault }
        return rules.fault(in: value, definitions)
      }
    case ("type", .string), ("type", .array):
      let names = if case .array(let names) = operand { names } else { [operand] }
      let types = names.compactMap { name -> ValueType? in
        guard case .string(let name) = name else { return nil }
        return ValueType(rawValue: name)
      }
      return { value, _ in types.contains { $0.includes(value) } ? nil : fault }
    case ("const", _): return { value, _ in value == operand ? nil : fault }
    case ("enum", .array(let values)): return { value, _ in values.contains(value) ? nil : fault }
    case ("anyOf", .array(let schemas)):
      let forms = schemas.map(Rules.init)
      return { value, definitions in
        forms.contains { $0.fault(in: value, definitions) == nil } ? nil : fault
      }
    case ("oneOf", .array(let schemas)):
      let forms = schemas.map(Rules.init)
      return { value, definitions in
        forms.count { $0.fault(in: value, definitions) == nil } == 1 ? nil : fault
      }
    case ("allOf", .array(let schemas)):
      let forms = schemas.map(Rules.init)
      return { value, definitions in
        for form in forms { if let fault = form.fault(in: value, definitions) { return fault } }
        return nil
      }
    case ("not", _):
      let form = Rules(operand)
      return { value, definitions in form.fault(in: value, definitions) != nil ? nil : fault }
    case ("if", _):
      let (condition, consequence) = (Rules(operand), Rules(schema["then"] ?? .bool(true)))
      return { value, definitions in
        condition.fault(in: value, definitions) == nil
          ? consequence.fault(in: value, definitions) : nil
      }
    case ("required", .array(let names)):
      let names = names.compactMap { if case .string(let name) = $0 { name } else { nil } }
      return { value, _ in
        guard case .object(let object) = value else { return nil }
        return names.allSatisfy { object[$0] != nil } ? nil : fault
      }
    case ("properties", .object(let properties)):
      let rules = rules(ofMembers: properties)
      return { value, definitions in
        guard case .object(let object) = value else { return nil }
        for member in object.members {
          let fault = rules[member.name]?.fault(in: member.value, definitions)
          if let fault { return fault.inside(member.name) }
        }
        return nil
      }
    case ("additionalProperties", _):
      let known = if case .object(let known)? = schema["properties"] { known } else { JSONObject() }
      let (names, rules) = (Set(known.members.map(\.name)), Rules(operand))
      return { value, definitions in
        guard case .object(let object) = value else { return nil }
        for member in object.members where !names.contains(member.name) {
          let fault = rules.fault(in: member.value, definitions)
          if let fault { return fault.inside(member.name) }
        }
        return nil
      }
    case ("items", _):
      let rules = Rules(operand)
      return { value, definitions in
        guard case .array(let elements) = value else { return nil }
        for (i, element) in elements.enumerated() {
          if let fault = rules.fault(in: element, definitions) { return fault.inside("\(i)") }
        }
        return nil
      }
    case ("pattern", .string(let pattern)):
      // Not compiled once: a leak checker does not see the tagged pointers of a kept expression.
      return { value, _ in
        guard case .string(let text) = value else { return nil }
        guard let regex = try? Regex(pattern) else { return fault }
        return text.firstMatch(of: regex) != nil ? nil : fault
      }
    case (_, .number(let limit)): if let check = check(rule, limit.double, fault) { return check }
    default: break
    }
    // It fails, so that no rule is ignored.
    let unknown = Fault("the unknown rule \(rule)", operand)
    return { _, _ in unknown }
  }

  /// Compiles a rule that limits a number, a length or a count.
  private static func check(_ rule: String, _ limit: Double, _ fault: Fault) -> Check? {
    let size: @Sendable (JSONValue) -> Double?
    switch rule {
    case "minProperties":
      size = { if case .object(let object) = $0 { Double(object.members.count) } else { nil } }
    case "minItems", "maxItems":
      size = { if case .array(let elements) = $0 { Double(elements.count) } else { nil } }
    case "minLength", "maxLength":
      size = { if case .string(let text) = $0 { Double(text.unicodeScalars.count) } else { nil } }
    case "minimum", "maximum":
      size = { if case .number(let number) = $0 { number.double } else { nil } }
    default: return nil
    }
    let isMinimum = rule.hasPrefix("min")
    return { value, _ in
      guard let size = size(value) else { return nil }
      return (isMinimum ? size >= limit : size <= limit) ? nil : fault
    }
  }

  private static func rules(ofMembers object: JSONObject) -> [String: Rules] {
    Dictionary(
      object.members.map { ($0.name, Rules($0.value)) }, uniquingKeysWith: { first, _ in first })
  }
}

/// A type of value, as a schema names it.
private enum ValueType: String {
  case null, boolean, string, array, object, number, integer

  func includes(_ value: JSONValue) -> Bool {
    switch (self, value) {
    case (.null, .null), (.boolean, .bool), (.string, .string), (.array, .array),
      (.object, .object), (.number, .number):
      true
    case (.integer, .number(let number)): number.int64 != nil
    default: false
    }
  }
}
