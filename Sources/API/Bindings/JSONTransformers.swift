package import EventSourcing
internal import Facts
package import JSON
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

  fileprivate init(_ name: String, _ wanted: String, _ value: JSONValue) {
    let text =
      value.hasMoreBytes(than: ValueFault.maxBytes) ? "a long value" : value.text.text
    let shown = text.utf8.count <= 40 ? text : "\(text.prefix(40))…"
    description = "'\(name)' takes \(wanted), not \(shown)"
  }
}

/// The transformers that bindings between sources may use.
package enum JSONTransformers {
  package static var all: TransformerRegistry<JSONValue> {
    // Checked after each step, because a chain of transformers can make a value longer at each
    // step.
    var all = TransformerRegistry<JSONValue> { value in
      if value.hasMoreBytes(than: ValueFault.maxBytes) { throw TransformerFault.tooLong }
    }
    all.registerLogic()
    all.registerNumbers()
    all.registerText()
    all.registerStructure()
    return all
  }
}

extension TransformerRegistry where Value == JSONValue {
  fileprivate mutating func registerLogic() {
    register(reversible: "not") {
      .bool(try !bool($0, "not"))
    } reverse: {
      .bool(try !bool($0, "not"))
    }
    register("default", [.value], isReversible: true) { arguments in
      let fallback = JSONValue(arguments[0])
      return Transformer({ $0 == .null ? fallback : $0 }, reverse: { $0 })
    }
  }

  fileprivate mutating func registerNumbers() {
    register(reversible: "negate") {
      try calculate($0, "negate", -)
    } reverse: {
      try calculate($0, "negate", -)
    }
    register("scale", [.number], isReversible: true) { arguments in
      let factor = arguments[0].number ?? 1
      return Transformer(
        { try calculate($0, "scale") { $0 * factor } },
        reverse: { try calculate($0, "scale") { $0 / factor } })
    }
    register("offset", [.number], isReversible: true) { arguments in
      let offset = arguments[0].number ?? 0
      return Transformer(
        { try calculate($0, "offset") { $0 + offset } },
        reverse: { try calculate($0, "offset") { $0 - offset } })
    }
    register("round", [.integer], isReversible: false) { arguments in
      let factor = power(of10: arguments[0].integer ?? 0)
      return Transformer { try calculate($0, "round") { ($0 * factor).rounded() / factor } }
    }
    register(reversible: "celsius_to_fahrenheit") {
      try calculate($0, "celsius_to_fahrenheit") { $0 * 9 / 5 + 32 }
    } reverse: {
      try calculate($0, "celsius_to_fahrenheit") { ($0 - 32) * 5 / 9 }
    }
  }

  fileprivate mutating func registerText() {
    register(reversible: "to_string", text, reverse: scalar)
    register(reversible: "to_number", number, reverse: text)
    register("uppercase", Transformer { .string(try string($0, "uppercase").uppercased()) })
    register("lowercase", Transformer { .string(try string($0, "lowercase").lowercased()) })
    register("trim", Transformer { .string(try string($0, "trim").trimmed) })
    register("format", [.string], isReversible: false) { arguments in
      let format = Format(arguments[0].string ?? "")
      return Transformer { .string(try format.text(with: $0)) }
    }
  }

  fileprivate mutating func registerStructure() {
    register("length", Transformer { .number(JSONNumber(try length($0))) })
    register(reversible: "json") {
      .string(try written($0, "json"))
    } reverse: {
      try parsed($0, "json")
    }
    register(reversible: "parse_json") {
      try parsed($0, "parse_json")
    } reverse: {
      .string(try written($0, "parse_json"))
    }
    register("pick", [.string], isReversible: false) { arguments in
      let pointer = arguments[0].string ?? ""
      return Transformer { $0.member(at: pointer) ?? .null }
    }
  }

  fileprivate mutating func register(
    reversible name: String, _ forward: @escaping (JSONValue) throws -> JSONValue,
    reverse: @escaping (JSONValue) throws -> JSONValue
  ) {
    register(name, Transformer(forward, reverse: reverse))
  }
}

// MARK: Implementations

private func bool(_ value: JSONValue, _ name: String) throws -> Bool {
  guard case .bool(let bool) = value else { throw TransformerFault(name, "true or false", value) }
  return bool
}

private func string(_ value: JSONValue, _ name: String) throws -> String {
  guard case .string(let string) = value else { throw TransformerFault(name, "a string", value) }
  return string
}

private func calculate(
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
  for _ in 0..<min(abs(exponent), 15) { power *= 10 }
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
  fileprivate init(_ argument: BindArgument) {
    switch argument.value {
    case .string(let string): self = .string(string)
    case .number(let text): self = JSONNumber(text).map { .number($0) } ?? .null
    case .bool(let bool): self = .bool(bool)
    case .null: self = .null
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
