package import EventSourcing
package import JSON
internal import Model
package import Signals

/// An error from a transformer that cannot convert a value.
package struct TransformerFault: ServiceError, Equatable {
  package let description: String

  fileprivate static func tooLong(_ name: String) -> TransformerFault {
    TransformerFault(
      description: "'\(name)' would make a value of more than \(ValueFault.maxBytes) bytes")
  }

  /// A result that is too long; used when the error's recipient knows which transformer ran.
  fileprivate static let tooLong = TransformerFault(
    description: "a transformer has made a value of more than \(ValueFault.maxBytes) bytes")

  private init(description: String) {
    self.description = description
  }

  package var kind: ServiceErrorKind { .rejected(reason: "transformer") }

  /// Returns the name of a transformer as faults have it.
  ///
  /// `a | below(b)` is a short form with `minus`, which nobody has written.
  package static func subject(of name: String) -> String {
    name == "minus" ? "'minus' or a comparison of two sources" : "'\(name)'"
  }

  init(_ name: String, _ wanted: String, _ value: JSONValue) {
    let text =
      value.hasMoreBytes(than: ValueFault.maxBytes) ? "a long value" : value.text.text
    let shown = text.utf8.count <= 40 ? text : "\(text.prefix(40))…"
    description = "\(Self.subject(of: name)) takes \(wanted), not \(shown)"
  }
}

/// The transformers and operators that bindings between sources may use.
///
/// This is the only table of them: the parser, `describe` and the help of `bindctl` read it.
package enum JSONTransformers {
  package static var all: TransformerRegistry<JSONValue> {
    // Checked after each step, because a chain of transformers can make a value longer at each
    // step.
    var all = TransformerRegistry<JSONValue>(check: check) { array, functions in
      guard case .array(let elements) = array else { return array }
      return .array(
        try zip(elements, functions).map { value, function in
          // A source without a value stays without one, unless a transformer gives it one.
          value == .null ? (try? function(value)) ?? .null : try function(value)
        })
    }
    all.registerLogic()
    all.registerTests()
    all.registerNumbers()
    all.registerText()
    all.registerStructure()
    all.registerAggregates()
    all.registerTime()
    all.registerMemory()
    return all
  }

  /// Checks the size of a value.
  package static func check(_ value: JSONValue) throws {
    if value.hasMoreBytes(than: ValueFault.maxBytes) { throw TransformerFault.tooLong }
  }
}

extension TransformerRegistry where Value == JSONValue {
  fileprivate mutating func registerLogic() {
    register(reversible: "not", "true becomes false, and false true") {
      .bool(try !bool($0, "not"))
    } reverse: {
      .bool(try !bool($0, "not"))
    }
    register("default", [.value], "null becomes the given value", isReversible: true) { arguments in
      let fallback = JSONValue(arguments[0])
      return Transformer({ $0 == .null ? fallback : $0 }, reverse: { $0 })
    }
    register("constant", [.value], "every value becomes the given one", isReversible: false) {
      arguments in
      let value = JSONValue(arguments[0])
      return Transformer { _ in value }
    }
    register(
      "map", Parameters([.value, .value], repeated: .value),
      "map(from, to, from, to, …, otherwise): replaces values; refuses others without otherwise",
      isReversible: false
    ) { arguments in
      let values = arguments.map { JSONValue($0) }
      var table: [JSONValue: JSONValue] = [:]
      for i in stride(from: 0, to: values.count - 1, by: 2) where table[values[i]] == nil {
        table[values[i]] = values[i + 1]
      }
      let (replacements, otherwise) = (table, values.count % 2 == 1 ? values.last : nil)
      return Transformer { value in
        guard let found = replacements[value] ?? otherwise else {
          throw TransformerFault("map", "one of its values", value)
        }
        return found
      }
    }
  }

  fileprivate mutating func registerTests() {
    let tests: [(name: String, parameters: Parameters, doc: String)] = [
      ("above", [.number], "whether a number is greater"),
      ("below", [.number], "whether a number is less"),
      ("between", [.number, .number], "whether a number is from the first to the second"),
      ("equals", [.value], "whether a value is the same"),
      ("differs", [.value], "whether a value is another one"),
    ]
    for (name, parameters, doc) in tests {
      register(name, parameters, doc, isReversible: false) { arguments throws(BindMisuse) in
        let test = try ValueTest(name, arguments, from: 0)
        return Transformer { .bool(try test.holds(for: $0)) }
      }
    }
    register(
      operator: "where", Parameters([.test, .value], optional: [.value]),
      "drops values that do not pass the test: where(above, 4)"
    ) { arguments throws(BindMisuse) in
      let test = try ValueTest(arguments[0].word ?? "", Array(arguments.dropFirst()), from: 1)
      return .filter { try test.holds(for: $0) }
    }
  }

  fileprivate mutating func registerNumbers() {
    register(reversible: "negate", "changes the sign") {
      try calculate($0, "negate", -)
    } reverse: {
      try calculate($0, "negate", -)
    }
    register("scale", [.number], "multiplies", isReversible: true) { arguments in
      let factor = arguments[0].number ?? 1
      return Transformer(
        { try calculate($0, "scale") { $0 * factor } },
        reverse: { try calculate($0, "scale") { $0 / factor } })
    }
    register("offset", [.number], "adds", isReversible: true) { arguments in
      let offset = arguments[0].number ?? 0
      return Transformer(
        { try calculate($0, "offset") { $0 + offset } },
        reverse: { try calculate($0, "offset") { $0 - offset } })
    }
    register("round", [.integer], "rounds to so many decimals", isReversible: false) { arguments in
      let factor = power(of10: arguments[0].integer ?? 0)
      return Transformer { try calculate($0, "round") { ($0 * factor).rounded() / factor } }
    }
    register("clamp", [.number, .number], "limits to the range", isReversible: false) {
      arguments throws(BindMisuse) in
      let range = try numberRange(arguments, from: 0)
      return Transformer { value in
        .number(min(max(try value.number("clamp"), range.low), range.high))
      }
    }
    register(reversible: "celsius_to_fahrenheit", "converts a temperature") {
      try calculate($0, "celsius_to_fahrenheit") { $0 * 9 / 5 + 32 }
    } reverse: {
      try calculate($0, "celsius_to_fahrenheit") { ($0 - 32) * 5 / 9 }
    }
  }

  fileprivate mutating func registerText() {
    register(reversible: "to_string", "writes a value as text", text, reverse: scalar)
    register(reversible: "to_number", "reads a number from text", number, reverse: text)
    register(
      "uppercase", Transformer { .string(try string($0, "uppercase").uppercased()) },
      doc: "a string in capitals")
    register(
      "lowercase", Transformer { .string(try string($0, "lowercase").lowercased()) },
      doc: "a string in small letters")
    register(
      "trim", Transformer { .string(try string($0, "trim").trimmed) },
      doc: "a string without white space at its ends")
    register("format", [.string], "inserts the value at each {}", isReversible: false) {
      arguments in
      let format = Format(arguments[0].string ?? "")
      return Transformer { .string(try format.text(with: $0)) }
    }
  }

  fileprivate mutating func registerStructure() {
    register(
      "length", Transformer { .number(JSONNumber(try length($0))) },
      doc: "the length of a string, an array or an object")
    register(reversible: "json", "writes a value as JSON text") {
      .string(try written($0, "json"))
    } reverse: {
      try parsed($0, "json")
    }
    register(reversible: "parse_json", "reads a value from JSON text") {
      try parsed($0, "parse_json")
    } reverse: {
      .string(try written($0, "parse_json"))
    }
    register("pick", [.string], "the part at a JSON Pointer, or null", isReversible: false) {
      arguments throws(BindMisuse) in
      let pointer = arguments[0].string ?? ""
      guard pointer.isEmpty || pointer.hasPrefix("/") else {
        throw BindMisuse(0, "a JSON Pointer such as \"/name\"")
      }
      return Transformer { $0.member(at: pointer) ?? .null }
    }
  }

  fileprivate mutating func register(
    reversible name: String, _ doc: String, _ forward: @escaping (JSONValue) throws -> JSONValue,
    reverse: @escaping (JSONValue) throws -> JSONValue
  ) {
    register(name, Transformer(forward, reverse: reverse), doc: doc)
  }
}

/// A test of a value: `above(4)`.
struct ValueTest {
  private enum Kind {
    case above(JSONNumber)
    case below(JSONNumber)
    case between(NumberRange)
    case equals(JSONValue)
    case differs(JSONValue)
  }

  private let kind: Kind
  private let name: String

  /// - Parameter index: The index of the first argument in the call, for an error.
  init(_ name: String, _ arguments: [BindArgument], from index: Int) throws(BindMisuse) {
    let isRange = name == "between"
    guard arguments.count == (isRange ? 2 : 1) else {
      throw BindMisuse(index, isRange ? "two numbers after 'between'" : "one value after '\(name)'")
    }
    self.name = name
    switch name {
    case "above": kind = .above(try Self.number(arguments, index))
    case "below": kind = .below(try Self.number(arguments, index))
    case "between": kind = .between(try numberRange(arguments, from: index))
    case "equals": kind = .equals(JSONValue(arguments[0]))
    default: kind = .differs(JSONValue(arguments[0]))
    }
  }

  private static func number(
    _ arguments: [BindArgument], _ index: Int
  ) throws(BindMisuse) -> JSONNumber {
    guard case .number(let number) = JSONValue(arguments[0]) else {
      throw BindMisuse(index, "a number")
    }
    return number
  }

  func holds(for value: JSONValue) throws -> Bool {
    switch kind {
    case .above(let limit): try value.number(name) > limit
    case .below(let limit): try value.number(name) < limit
    case .between(let range):
      try (range.low...range.high).contains(value.number(name))
    case .equals(let other): value == other
    case .differs(let other): value != other
    }
  }
}

/// A range of numbers that includes its ends.
typealias NumberRange = (low: JSONNumber, high: JSONNumber)

/// Returns the range that two arguments give.
///
/// - Parameter index: The index of the first one in the call, for an error.
func numberRange(
  _ arguments: [BindArgument], from index: Int
) throws(BindMisuse) -> NumberRange {
  guard case .number(let low) = JSONValue(arguments[0]),
    case .number(let high) = JSONValue(arguments[1])
  else { throw BindMisuse(index, "two numbers") }
  guard low <= high else {
    throw BindMisuse(index, "the low number first, then the high one")
  }
  return (low, high)
}

extension JSONNumber {
  /// The value of an integer of at most 18 digits, in its usual form; `nil` for other numbers.
  var shortInteger: Int64? {
    let bytes = text.utf8.span
    guard !bytes.isEmpty, bytes.count <= 18 else { return nil }
    let isNegative = bytes[0] == UInt8(ascii: "-")
    var value: Int64 = 0
    for i in (isNegative ? 1 : 0)..<bytes.count {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[i] else { return nil }
      value = value * 10 + Int64(bytes[i] - UInt8(ascii: "0"))
    }
    return isNegative ? -value : value
  }

  /// Returns whether a number is less than another one.
  ///
  /// Short integers are compared without their digits.
  static func isLess(_ left: JSONNumber, _ right: JSONNumber) -> Bool {
    if let left = left.shortInteger, let right = right.shortInteger { return left < right }
    return left < right
  }
}

/// Returns a number divided by a count.
func quotient(_ number: JSONNumber, _ count: Int) throws -> JSONNumber {
  guard case .number(let result) = try calculate(.number(number), "avg", { $0 / Double(count) })
  else { return number }
  return result
}

extension JSONValue {
  /// Returns the number of a value.
  func number(_ name: String) throws -> JSONNumber {
    guard case .number(let number) = self else { throw TransformerFault(name, "a number", self) }
    return number
  }
}

// MARK: Implementations

func bool(_ value: JSONValue, _ name: String) throws -> Bool {
  guard case .bool(let bool) = value else { throw TransformerFault(name, "true or false", value) }
  return bool
}

private func string(_ value: JSONValue, _ name: String) throws -> String {
  guard case .string(let string) = value else { throw TransformerFault(name, "a string", value) }
  return string
}

func calculate(
  _ value: JSONValue, _ name: String, _ body: (Double) -> Double
) throws -> JSONValue {
  guard case .number(let number) = value else { throw TransformerFault(name, "a number", value) }
  guard !number.isTooSmallForDouble else {
    throw TransformerFault(name, "a number that a double can hold", value)
  }
  let result = body(number.double)
  // Whole results are written as integers: 4, not 4.0.
  if let integer = Int64(exactly: result) { return .number(JSONNumber(integer)) }
  guard let number = JSONNumber(result) else {
    throw TransformerFault(name, "a number that does not grow too large", value)
  }
  return .number(number)
}

private func power(of10 exponent: Int) -> Double {
  var power = 1.0
  for _ in 0..<min(exponent.magnitude, 15) { power *= 10 }
  return exponent < 0 ? 1 / power : power
}

/// Returns a number, a boolean or null as its JSON text, and a string unchanged.
private func text(_ value: JSONValue) throws -> JSONValue {
  switch value {
  case .string: value
  case .number, .bool, .null: .string(value.text.text)
  case .array, .object: throw TransformerFault("to_string", "no array and no object", value)
  }
}

/// Reverses ``text(_:)`` for numbers, booleans and null; throws for any other string.
private func scalar(_ value: JSONValue) throws -> JSONValue {
  switch value {
  case .string("true"): .bool(true)
  case .string("false"): .bool(false)
  case .string("null"): .null
  default: try number(value)
  }
}

private func number(_ value: JSONValue) throws -> JSONValue {
  switch value {
  case .number: return value
  case .string(let string):
    guard let number = JSONNumber(string.trimmed) else { fallthrough }
    return .number(number)
  default: throw TransformerFault("to_number", "the text of a number", value)
  }
}

private func replacing(_ place: String, in format: String, with text: String) -> String {
  var result = ""
  var rest = Substring(format)
  while let start = rest.firstRange(of: place) {
    result += rest[..<start.lowerBound] + text
    rest = rest[start.upperBound...]
  }
  return result + rest
}

/// The pattern of the `format` transformer; each `{}` is replaced by the value.
private struct Format {
  private let format: String
  private let places: Int
  /// Length in bytes of everything but the placeholders, as a JSON string with its quotes.
  private let bytes: Int

  init(_ format: String) {
    self.format = format
    let rest = replacing("{}", in: format, with: "")
    bytes = JSONValue.bytes(of: rest)
    places = (format.utf8.count - rest.utf8.count) / 2
  }

  func text(with value: JSONValue) throws -> String {
    guard places > 0 else { return format }
    let shown = if case .string(let string) = value { string } else { try written(value, "format") }
    guard bytes + places * (JSONValue.bytes(of: shown) - 2) <= ValueFault.maxBytes else {
      throw TransformerFault.tooLong("format")
    }
    return replacing("{}", in: format, with: shown)
  }
}

/// Returns the JSON text of a value.
///
/// - Throws: ``TransformerFault`` if the text is too long as a string value. A value that is too
///   long is never converted to text.
private func written(_ value: JSONValue, _ name: String) throws -> String {
  guard !value.hasMoreBytes(than: ValueFault.maxBytes) else {
    throw TransformerFault.tooLong(name)
  }
  let text = value.text.text
  guard JSONValue.bytes(of: text) <= ValueFault.maxBytes else {
    throw TransformerFault.tooLong(name)
  }
  return text
}

private func length(_ value: JSONValue) throws -> Int {
  switch value {
  case .string(let string): string.count
  case .array(let elements): elements.count
  case .object(let object): object.members.count
  default: throw TransformerFault("length", "a string, an array or an object", value)
  }
}

private func parsed(_ value: JSONValue, _ name: String) throws -> JSONValue {
  let text = try string(value, name)
  var scanner = JSONScanner(text.utf8.span)
  guard (try? scanner.value(depth: JSONLimits.surroundings)) != nil,
    let value = try? JSONValue(parsing: text)
  else { throw TransformerFault(name, "the text of a JSON value", value) }
  return value
}

extension JSONValue {
  package init(_ argument: BindArgument) {
    switch argument.value {
    case .string(let string): self = .string(string)
    case .number(let text): self = JSONNumber(text).map { .number($0) } ?? .null
    case .bool(let bool): self = .bool(bool)
    case .null, .duration, .word, .path: self = .null
    }
  }

  /// Returns the value at a JSON Pointer (RFC 6901), or `nil` if there is none.
  fileprivate func member(at pointer: String) -> JSONValue? {
    var value = self
    for token in pointer.split(separator: "/", omittingEmptySubsequences: false).dropFirst() {
      let name = replacing("~0", in: replacing("~1", in: String(token), with: "/"), with: "~")
      switch value {
      case .object(let object):
        guard let member = object[name] else { return nil }
        value = member
      case .array(let elements):
        guard let index = Int(name), elements.indices ~= index else { return nil }
        value = elements[index]
      default: return nil
      }
    }
    return value
  }
}
