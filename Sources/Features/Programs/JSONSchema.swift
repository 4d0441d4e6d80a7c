internal import JSON
internal import Wire

/// A JSON Schema for parameters and results of provided methods: a part of draft 2020-12.
///
/// It knows `type`, `enum`, `properties`, `required`, `additionalProperties` (`true` or `false`),
/// `items`, `minimum`, `maximum`, `minLength`, `maxLength`, `minItems`, `maxItems`, and the notes
/// `title`, `description`, `default`, `examples`. Any other word is refused, because it would be
/// ignored.
struct JSONSchema {
  /// A fault in a schema, or of a value: the place, the rule, and the value there.
  struct Fault: Error {
    var path: String
    let expected: String
    let got: String

    func within(_ name: String) -> Fault {
      Fault(path: "/\(name)" + path, expected: expected, got: got)
    }
  }

  /// The schema as it was given.
  let value: JSONValue

  /// The allowed types; `nil` for all.
  private var types: [String]?
  private var words: Words?
  private(set) var properties: [(name: String, schema: JSONSchema)] = []

  /// The index of each property in ``properties``.
  private var places: [String: Int] = [:]

  /// The names of required members, sorted.
  private(set) var required: [String] = []
  private var takesOthers = true

  /// The schema of elements: one or none.
  private var items: [JSONSchema] = []
  private var numbers: (least: JSONNumber?, most: JSONNumber?) = (nil, nil)
  private var length: (least: Int?, most: Int?) = (nil, nil)
  private var count: (least: Int?, most: Int?) = (nil, nil)

  /// Whether every object fits.
  var takesAnyObject: Bool {
    words == nil && properties.isEmpty && required.isEmpty && takesOthers
      && types?.contains("object") != false
  }

  private static let knownTypes = [
    "null", "boolean", "integer", "number", "string", "array", "object",
  ]
  private static let notes: Set = ["title", "description", "default", "examples"]

  /// The deepest nesting of schemas.
  private static let maxDepth = 16

  /// The most parts of a declaration, and of a value that is checked: its elements and members, also
  /// those within others.
  ///
  /// A check looks at each part once, in a table. It is not interrupted, so this bounds its time.
  static let maxParts = 12_000

  /// Returns the number of parts of a JSON text, or of one that is as long; at most one too many for
  /// each array and object.
  static func parts(of text: Span<UInt8>) -> Int {
    // Each part takes a byte and a comma or bracket.
    guard text.count > maxParts else { return text.count }
    var (count, isText, isEscaped) = (0, false, false)
    for i in text.indices {
      let byte = text[i]
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isText.toggle()
      } else if isText {
        isEscaped = byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: ",") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
      {
        count += 1
      }
    }
    return count
  }

  /// The allowed values of `enum`.
  private struct Words {
    private static let maxShownBytes = 512
    let all: Set<JSONValue>

    /// The values in the order in which they were given.
    let list: [JSONValue]

    /// Whether one of them is an array or object.
    private let haveParts: Bool

    init(_ list: [JSONValue]) {
      (self.list, all) = (list, Set(list))
      haveParts = list.contains(where: \.hasParts)
    }

    func contain(_ value: JSONValue) -> Bool {
      (haveParts || !value.hasParts) && all.contains(value)
    }

    /// The beginning of the list, for an error.
    var text: String { JSONValue.array(list).text.text.cut(toBytes: Self.maxShownBytes) }
  }

  init(_ value: JSONValue, depth: Int = 0) throws(Fault) {
    self.value = value
    guard depth < Self.maxDepth else {
      throw Fault(path: "", expected: "at most \(Self.maxDepth) levels", got: "more")
    }
    guard case .object(let object) = value else {
      throw Fault(
        path: "", expected: "a JSON Schema: an object", got: value.text.text.cut(toBytes: 64))
    }
    for member in object.members {
      do throws(Fault) {
        try parse(member.name, member.value, depth)
      } catch {
        throw error.within(member.name)
      }
    }
    for name in required
    where !properties.isEmpty && places[name] == nil {
      throw Fault(path: "/required", expected: "names of properties", got: name)
    }
  }

  private mutating func parse(_ name: String, _ value: JSONValue, _ depth: Int) throws(Fault) {
    switch name {
    case "type": types = try Self.types(value)
    case "enum": words = Words(try Self.array(value, "a list of values"))
    case "properties":
      guard case .object(let object) = value else { throw Self.fault("an object", value) }
      for member in object.members {
        places[member.name] = properties.count
        do throws(Fault) {
          properties.append((member.name, try JSONSchema(member.value, depth: depth + 1)))
        } catch {
          throw error.within(member.name)
        }
      }
    case "required":
      required = Set(try Self.texts(value)).sorted()
    case "additionalProperties":
      guard case .bool(let takes) = value else { throw Self.fault("true or false", value) }
      takesOthers = takes
    case "items": items = [try JSONSchema(value, depth: depth + 1)]
    case "minimum": numbers.least = try Self.number(value)
    case "maximum": numbers.most = try Self.number(value)
    case "minLength": length.least = try Self.count(value)
    case "maxLength": length.most = try Self.count(value)
    case "minItems": count.least = try Self.count(value)
    case "maxItems": count.most = try Self.count(value)
    case _ where Self.notes.contains(name): break
    default:
      throw Fault(
        path: "",
        expected: "a word of JSON Schema that binderd checks, such as type, properties or enum",
        got: name.cut(toBytes: 64))
    }
  }

  private static func fault(_ expected: String, _ value: JSONValue) -> Fault {
    Fault(path: "", expected: expected, got: value.text.text.cut(toBytes: 64))
  }

  private static func array(_ value: JSONValue, _ rule: String) throws(Fault) -> [JSONValue] {
    guard case .array(let elements) = value else { throw fault(rule, value) }
    return elements
  }

  private static func texts(_ value: JSONValue) throws(Fault) -> [String] {
    var texts: [String] = []
    for element in try array(value, "a list of strings") {
      guard case .string(let text) = element else { throw fault("a string", element) }
      texts.append(text)
    }
    return texts
  }

  private static func types(_ value: JSONValue) throws(Fault) -> [String] {
    let names = if case .string(let name) = value { [name] } else { try texts(value) }
    for name in names where !knownTypes.contains(name) {
      throw fault("one of " + knownTypes.joined(separator: " "), .string(name))
    }
    // Each value is compared with all of them.
    guard names.count <= knownTypes.count else {
      throw fault("each type once", .string("\(names.count) types"))
    }
    return names
  }

  private static func number(_ value: JSONValue) throws(Fault) -> JSONNumber {
    guard case .number(let number) = value else { throw fault("a number", value) }
    return number
  }

  private static func count(_ value: JSONValue) throws(Fault) -> Int {
    guard case .number(let number) = value, let count = number.int64, count >= 0 else {
      throw fault("a count", value)
    }
    return Int(count)
  }

  // MARK: Checking

  /// Returns the first fault of a value; `nil` if it fits.
  func fault(in value: JSONValue) -> Fault? {
    if let types, !types.contains(where: { Self.is(value, $0) }) {
      return Self.fault(types.joined(separator: " or "), value)
    }
    if let words, !words.contain(value) {
      return Self.fault("one of \(words.text)", value)
    }
    switch value {
    case .object(let object): return fault(in: object)
    case .array(let elements):
      if let rule = Self.rule(elements.count, count, "elements") { return Self.fault(rule, value) }
      guard let items = items.first else { return nil }
      for (i, element) in elements.enumerated() {
        if let fault = items.fault(in: element) { return fault.within("\(i)") }
      }
    case .number(let number):
      if let least = numbers.least, number < least {
        return Self.fault("at least \(least.text)", value)
      }
      if let most = numbers.most, most < number { return Self.fault("at most \(most.text)", value) }
    case .string(let text):
      // JSON Schema counts characters as code points.
      let rule = Self.rule(text.unicodeScalars.count, length, "characters")
      if let rule { return Self.fault(rule, value) }
    case .bool, .null: break
    }
    return nil
  }

  private func fault(in object: JSONObject) -> Fault? {
    for name in required where object[name] == nil {
      return Fault(path: "/\(name)", expected: "a value", got: "nothing")
    }
    for member in object.members {
      guard let place = places[member.name] else {
        guard takesOthers else {
          let names = properties.map(\.name).joined(separator: " ")
          return Fault(
            path: "/\(member.name)", expected: "one of " + names.cut(toBytes: 512),
            got: "'\(member.name)'")
        }
        continue
      }
      if let fault = properties[place].schema.fault(in: member.value) {
        return fault.within(member.name)
      }
    }
    return nil
  }

  private static func rule(_ count: Int, _ range: (least: Int?, most: Int?), _ unit: String)
    -> String?
  {
    if let least = range.least, count < least { return "at least \(least) \(unit)" }
    if let most = range.most, count > most { return "at most \(most) \(unit)" }
    return nil
  }

  private static func `is`(_ value: JSONValue, _ type: String) -> Bool {
    switch (value, type) {
    case (.null, "null"), (.bool, "boolean"), (.number, "number"), (.string, "string"),
      (.array, "array"), (.object, "object"):
      true
    case (.number(let number), "integer"): number.int64 != nil
    default: false
    }
  }

  /// The type as `describe` shows it.
  var shape: Shape {
    if let words {
      let texts = words.list.compactMap { if case .string(let text) = $0 { text } else { nil } }
      if texts.count == words.list.count { return .words(texts) }
    }
    guard let types, types.count == 1 else { return .any }
    return switch types[0] {
    case "boolean": .bool
    case "integer": .integer
    case "number": .number
    case "string": .string
    case "array": .array(items.first?.shape ?? .any)
    case "object":
      properties.isEmpty
        ? .map(.any)
        : .object(
          properties.map {
            .init(name: $0.name, shape: $0.schema.shape, isOptional: !required.contains($0.name))
          })
    default: .any
    }
  }

  /// The note on a value; `nil` if there is none.
  var doc: String? {
    guard case .object(let object) = value, case .string(let doc)? = object["description"] else {
      return nil
    }
    return doc
  }
}

extension JSONValue {
  /// Whether it is an array or object.
  fileprivate var hasParts: Bool {
    switch self {
    case .array, .object: true
    case .null, .bool, .number, .string: false
    }
  }
}
