internal import JSON

/// A JSON value of a configuration file with its position.
struct ConfigurationValue {
  indirect enum Value {
    case null
    case bool(Bool)
    /// A number; `nil` if it is not an integer.
    case number(Int64?)
    case string(String)
    case array([ConfigurationValue])
    case object([Member])
  }

  struct Member {
    let name: String

    /// The byte offset of the name.
    let offset: Int
    let value: ConfigurationValue
  }

  /// The byte offset of the value.
  let offset: Int
  let value: Value

  /// The value or its type, for error messages.
  var kind: String {
    switch value {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .number(let integer): integer.map { "\($0)" } ?? "a number"
    case .string(let text): "\"\(text.prefix(40))\""
    case .array: "a list"
    case .object: "an object"
    }
  }

  /// Parses a JSON document.
  ///
  /// - Throws: ``JSONFault`` for invalid JSON.
  init(parsing bytes: Span<UInt8>) throws(JSONFault) {
    // The scanner limits the nesting depth, so this first pass bounds the recursion below.
    var whole = JSONScanner(bytes)
    _ = try whole.value()
    try whole.end()
    var scanner = JSONScanner(bytes)
    try self.init(&scanner)
  }

  private init(_ scanner: inout JSONScanner) throws(JSONFault) {
    let kind = try scanner.kind()
    let start = scanner.position
    offset = start
    switch kind {
    case .null:
      _ = try scanner.value()
      value = .null
    case .bool:
      _ = try scanner.value()
      value = .bool(scanner.position - start == 4)
    case .number:
      try scanner.number()
      value = .number(scanner.integer(start..<scanner.position))
    case .string: value = .string(scanner.text(try scanner.string()))
    case .array:
      var elements: [ConfigurationValue] = []
      var more = try scanner.enterArray()
      while more {
        elements.append(try ConfigurationValue(&scanner))
        more = try scanner.nextElement()
      }
      value = .array(elements)
    case .object:
      var members: [Member] = []
      var more = try scanner.enterObject()
      while more {
        scanner.skipWhitespace()
        let offset = scanner.position
        let name = scanner.text(try scanner.key())
        members.append(Member(name: name, offset: offset, value: try ConfigurationValue(&scanner)))
        more = try scanner.nextMember()
      }
      value = .object(members)
    }
  }
}

/// Parsers for numbers with a unit, such as `30d` or `64M`.
enum ScaledNumber {
  /// Parses a duration such as `30d` and returns seconds; `nil` for other text.
  static func seconds(_ text: String) -> UInt64? {
    scaled(
      text, ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800],
      upTo: UInt64(Int64.max) / 1_000_000)
  }

  /// Parses a size such as `64M` and returns bytes; `nil` for other text.
  static func bytes(_ text: String) -> UInt64? {
    scaled(
      text, ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40], upTo: UInt64(Int64.max))
  }

  private static func scaled(
    _ text: String, _ units: [Character: UInt64], upTo max: UInt64
  ) -> UInt64? {
    guard let unit = text.last.flatMap({ units[$0] }),
      text.dropLast().utf8.allSatisfy({ 0x30...0x39 ~= $0 }),
      let number = UInt64(text.dropLast()), number > 0
    else { return nil }
    let (value, overflow) = number.multipliedReportingOverflow(by: unit)
    return overflow || value > max ? nil : value
  }
}
