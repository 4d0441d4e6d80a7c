/// The JSON that a `Decodable` type accepts, found by running its `init(from:)` on a probe.
///
/// All members are found if the type reads them one after another, as compiler-generated code does.
public indirect enum Shape: Equatable, Sendable {
  /// Any value.
  case any
  case bool
  case integer
  case number
  case string
  case array(Shape)
  /// An object with these members, in the order in which they are read.
  case object([Member])
  /// An object with members of any name.
  case map(Shape)
  /// One of several shapes, for example a number or a string.
  case either([Shape])
  /// An integer from 0 to 2⁶³−1, for example a position.
  case natural
  /// One of these strings.
  case words([String])
  /// A string of a format.
  case text(Format)

  /// The formats of strings.
  public enum Format: String, Sendable {
    /// A day: `2026-12-31`.
    case date
    /// A time with its day, as in the protocol: `2026-12-31T18:00:00Z`.
    case time
    /// A time of day: `18:00`.
    case clock
    /// A string that forms do not show.
    case secret
  }

  /// One member of an object.
  public struct Member: Equatable, Sendable {
    /// The member's name.
    public let name: String
    /// The shape of the member's value.
    public let shape: Shape
    /// Whether the member may be left out.
    public let isOptional: Bool

    /// Creates a member.
    public init(name: String, shape: Shape, isOptional: Bool) {
      self.name = name
      self.shape = shape
      self.isOptional = isOptional
    }
  }

  /// Finds the shape of a type.
  public init<T: Decodable>(of type: T.Type) {
    self = Probe.shape(of: type)
  }

  /// The name of the shape as used in errors, for example `"integer"` or `"object"`.
  public var name: String {
    switch self {
    case .any: "any"
    case .bool: "boolean"
    case .integer, .natural: "integer"
    case .number: "number"
    case .string, .words, .text: "string"
    case .array: "array"
    case .object, .map: "object"
    case .either(let shapes): shapes.map(\.name).joined(separator: " or ")
    }
  }

  /// The members, or an empty array if this is not an object with known names.
  public var members: [Member] {
    if case .object(let members) = self { members } else { [] }
  }
}

/// A type that declares its shape, because decoding it once does not reveal all of it.
public protocol Shaped: Decodable {
  /// The JSON that the type accepts.
  static var shape: Shape { get }
}

/// A decoder without a text.
///
/// It records the requested types and returns placeholder values.
private final class Probe {
  var shape: Shape = .any

  static func shape<T: Decodable>(of type: T.Type) -> Shape {
    value(of: type).shape
  }

  /// Returns a placeholder value and the shape of a type.
  ///
  /// The value is `nil` if the type refuses it.
  static func value<T: Decodable>(of type: T.Type) -> (value: T?, shape: Shape) {
    switch type {
    case is JSONText.Type: return (JSONText.null as? T, .any)
    case is JSONValue.Type: return (JSONValue.null as? T, .any)
    case is JSONNumber.Type: return (JSONNumber(0) as? T, .number)
    default:
      let probe = Probe()
      // A string enum refuses the placeholder, but its requested type is recorded by then.
      let value = try? type.init(from: ProbeDecoder(probe: probe))
      return (value, (type as? any Shaped.Type)?.shape ?? probe.shape)
    }
  }

  /// Returns a placeholder value and its shape.
  ///
  /// Throws if the type refuses the placeholder.
  static func member<T: Decodable>(_ type: T.Type, at path: [any CodingKey]) throws -> (T, Shape) {
    let (value, shape) = value(of: type)
    guard let value else {
      throw JSONDecodingError(at: path, expected: shape.name, got: "a probe")
    }
    return (value, shape)
  }
}

private struct ProbeDecoder: Decoder {
  let probe: Probe
  var codingPath: [any CodingKey] { [] }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedDecodingContainer<K> {
    KeyedDecodingContainer(KeyedProbe(probe: probe))
  }

  func unkeyedContainer() -> any UnkeyedDecodingContainer { UnkeyedProbe(probe: probe) }
  func singleValueContainer() -> any SingleValueDecodingContainer { SingleProbe(probe: probe) }
}

private struct SingleProbe: SingleValueDecodingContainer {
  let probe: Probe
  var codingPath: [any CodingKey] { [] }

  func decodeNil() -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    if let value = scalar(type) { return value }
    let (value, shape) = try Probe.member(type, at: [])
    probe.shape = shape
    return value
  }

  private func scalar<T>(_ type: T.Type) -> T? {
    guard let (value, shape) = zero(type) else { return nil }
    probe.shape = shape
    return value
  }
}

/// Returns a zero value of a scalar type and its shape, or `nil` for other types.
private func zero<T>(_ type: T.Type) -> (T, Shape)? {
  let found: (Any, Shape)? =
    switch type {
    case is Bool.Type: (false, .bool)
    case is String.Type: ("", .string)
    case is Double.Type: (0.0, .number)
    case is Float.Type: (Float(0), .number)
    case let integer as any FixedWidthInteger.Type: (integer.zero, .integer)
    default: nil
    }
  guard let (value, shape) = found, let value = value as? T else { return nil }
  return (value, shape)
}

private struct KeyedProbe<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let probe: Probe
  var codingPath: [any CodingKey] { [] }

  init(probe: Probe) {
    self.probe = probe
    if case .object = probe.shape { return }
    probe.shape = .object([])
  }

  /// One key if keys of any name are accepted, as by a dictionary, to find the shape of its values;
  /// otherwise empty.
  var allKeys: [Key] {
    guard let key = Key(stringValue: Self.anyName), Key(stringValue: Self.anyName + "2") != nil
    else { return [] }
    return [key]
  }

  private static var anyName: String { "*" }

  func contains(_ key: Key) -> Bool { true }
  func decodeNil(forKey key: Key) -> Bool { false }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    if let (value, shape) = zero(type) {
      addMember(key, shape, isOptional: false)
      return value
    }
    let (value, shape) = Probe.value(of: type)
    addMember(key, shape, isOptional: false)
    guard let value else {
      throw JSONDecodingError(at: [key], expected: shape.name, got: "a probe")
    }
    return value
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) -> T? {
    addMember(key, zero(type)?.1 ?? Probe.shape(of: type), isOptional: true)
    return nil
  }

  // Compiler-generated code calls these overloads for the standard types.
  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) -> Bool? { optional(type, key) }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) -> String? { optional(type, key) }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) -> Double? { optional(type, key) }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) -> Float? { optional(type, key) }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) -> Int? { optional(type, key) }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) -> Int8? { optional(type, key) }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) -> Int16? { optional(type, key) }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) -> Int32? { optional(type, key) }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) -> Int64? { optional(type, key) }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) -> UInt? { optional(type, key) }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) -> UInt8? { optional(type, key) }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) -> UInt16? { optional(type, key) }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) -> UInt32? { optional(type, key) }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) -> UInt64? { optional(type, key) }

  private func optional<T>(_ type: T.Type, _ key: Key) -> T? {
    if let shape = zero(type)?.1 { addMember(key, shape, isOptional: true) }
    return nil
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) -> KeyedDecodingContainer<K> {
    addMember(key, .object([]), isOptional: false)
    return KeyedDecodingContainer(KeyedProbe<K>(probe: Probe()))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
    addMember(key, .array(.any), isOptional: false)
    return UnkeyedProbe(probe: Probe())
  }

  func superDecoder() -> any Decoder { ProbeDecoder(probe: Probe()) }
  func superDecoder(forKey key: Key) -> any Decoder { ProbeDecoder(probe: Probe()) }

  private func addMember(_ key: Key, _ shape: Shape, isOptional: Bool) {
    guard case .object(var members) = probe.shape else { return }
    if key.stringValue == Self.anyName {
      probe.shape = .map(shape)
      return
    }
    guard !members.contains(where: { $0.name == key.stringValue }) else { return }
    members.append(Shape.Member(name: key.stringValue, shape: shape, isOptional: isOptional))
    probe.shape = .object(members)
  }
}

private struct UnkeyedProbe: UnkeyedDecodingContainer {
  let probe: Probe
  var codingPath: [any CodingKey] { [] }
  var count: Int? { 1 }
  private(set) var currentIndex = 0
  var isAtEnd: Bool { currentIndex > 0 }

  init(probe: Probe) {
    self.probe = probe
    probe.shape = .array(.any)
  }

  mutating func decodeNil() -> Bool { false }

  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    currentIndex += 1
    if let (value, shape) = zero(type) {
      probe.shape = .array(shape)
      return value
    }
    let (value, shape) = Probe.value(of: type)
    probe.shape = .array(shape)
    guard let value else {
      throw JSONDecodingError(at: [], expected: shape.name, got: "a probe")
    }
    return value
  }

  mutating func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type
  ) -> KeyedDecodingContainer<K> {
    currentIndex += 1
    return KeyedDecodingContainer(KeyedProbe<K>(probe: Probe()))
  }

  mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
    currentIndex += 1
    return UnkeyedProbe(probe: Probe())
  }

  mutating func superDecoder() -> any Decoder {
    currentIndex += 1
    return ProbeDecoder(probe: Probe())
  }
}

extension FixedWidthInteger {
  fileprivate static var zero: Self { 0 }
}

extension Shape.Format {
  /// The format as JSON Schema.
  fileprivate var schema: JSONObject {
    switch self {
    case .date: ["type": .string("string"), "format": .string("date")]
    case .time: ["type": .string("string"), "format": .string("date-time")]
    case .clock: ["type": .string("string"), "pattern": .string("^([01][0-9]|2[0-3]):[0-5][0-9]$")]
    case .secret: ["type": .string("string"), "writeOnly": .bool(true)]
    }
  }
}

extension Shape {
  /// The shape as JSON Schema, draft 2020-12, in which objects allow no unknown members.
  public var schema: JSONValue { schema(isOpen: false) }

  /// Returns the shape as JSON Schema, draft 2020-12.
  ///
  /// - Parameter isOpen: Whether objects allow unknown members.
  public func schema(isOpen: Bool) -> JSONValue {
    switch self {
    case .any: return .bool(true)
    case .bool, .integer, .number, .string: return .object(["type": .string(name)])
    case .natural:
      return .object([
        "type": .string("integer"), "minimum": .number(JSONNumber(0)),
        "maximum": .number(JSONNumber(Int64.max)),
      ])
    case .words(let words): return .object(["enum": .array(words.map { .string($0) })])
    case .text(let format): return .object(format.schema)
    case .array(let element):
      return .object(["type": .string("array"), "items": element.schema(isOpen: isOpen)])
    case .map(let element):
      return .object([
        "type": .string("object"), "additionalProperties": element.schema(isOpen: isOpen),
      ])
    case .either(let shapes):
      return .object(["anyOf": .array(shapes.map { $0.schema(isOpen: isOpen) })])
    case .object(let members):
      var properties = JSONObject()
      for member in members { properties[member.name] = member.shape.schema(isOpen: isOpen) }
      let required = members.filter { !$0.isOptional }.map { JSONValue.string($0.name) }
      var schema: JSONObject = [
        "type": .string("object"), "properties": .object(properties),
        "required": .array(required),
      ]
      if !isOpen { schema["additionalProperties"] = .bool(false) }
      return .object(schema)
    }
  }
}
