internal import JSON

/// A JSON value of a configuration file with its position.
struct Node {
  indirect enum Value {
    case null
    case bool(Bool)
    /// A number; `nil` if it is not an integer.
    case number(Int64?)
    case string(String)
    case array([Node])
    case object([Member])
  }

  struct Member {
    let name: String

    /// The byte offset of the name.
    let offset: Int
    let value: Node
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
      var elements: [Node] = []
      var more = try scanner.enterArray()
      while more {
        elements.append(try Node(&scanner))
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
        members.append(Member(name: name, offset: offset, value: try Node(&scanner)))
        more = try scanner.nextMember()
      }
      value = .object(members)
    }
  }
}
