internal import JSON

/// What stands in a request object, read in one pass.
struct RequestMembers {
  var id: RequestID?
  var method: JSONScanner.StringToken?
  var params: Range<Int>?
  var isPositional = false

  /// The first rule of JSON-RPC that it breaks.
  var why: String?

  private var hasVersion = false

  init() {}

  /// Passes one value and notes what it says; what is wrong with it as a request goes to ``why``.
  ///
  /// - Throws: ``JSONFault`` for what is no JSON.
  mutating func read(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>, _ limits: Limits
  ) throws(JSONFault) {
    guard try scanner.kind() == .object else {
      _ = try scanner.value()
      why = "a request is an object"
      return
    }
    var more = try scanner.enterObject()
    while more {
      let key = try scanner.key()
      let kind = try scanner.kind()
      let start = scanner.position
      if scanner.token(key, is: "method") {
        try readMethod(&scanner, kind)
      } else {
        _ = try scanner.value(depth: 1)
        let value = start..<scanner.position
        if scanner.token(key, is: "id") {
          readID(line.extracting(value), kind, limits)
        } else if scanner.token(key, is: "params") {
          readParams(value, kind)
        } else if scanner.token(key, is: "jsonrpc") {
          readVersion(line.extracting(value))
        } else {
          note("unknown member '\(scanner.text(key).prefix(64))'")
        }
      }
      more = try scanner.nextMember()
    }
  }

  private mutating func note(_ why: String) {
    if self.why == nil { self.why = why }
  }

  private mutating func readMethod(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind
  ) throws(JSONFault) {
    guard kind == .string else {
      _ = try scanner.value(depth: 1)
      return note("'method' is a string")
    }
    if method != nil { note("'method' stands twice") }
    method = try scanner.string()
  }

  private mutating func readID(
    _ value: Span<UInt8>, _ kind: JSONScanner.Kind, _ limits: Limits
  ) {
    if id != nil { note("'id' stands twice") }
    switch kind {
    case .string where value.count > limits.idBytes + 2:
      note("'id' has at most \(limits.idBytes) bytes")
    case .string, .number, .null:
      id = RequestID(text: JSONText(scanned: value).text)
    case .bool, .array, .object:
      note("'id' is a string, a number or null")
    }
  }

  private mutating func readParams(_ value: Range<Int>, _ kind: JSONScanner.Kind) {
    if params != nil { note("'params' stands twice") }
    guard kind == .object || kind == .array else {
      return note("'params' is an object or an array")
    }
    params = value
    isPositional = kind == .array
  }

  private mutating func readVersion(_ value: Span<UInt8>) {
    if hasVersion { note("'jsonrpc' stands twice") }
    hasVersion = true
    let isRight =
      value.count == 5 && value[0] == UInt8(ascii: "\"") && value[1] == UInt8(ascii: "2")
      && value[2] == UInt8(ascii: ".") && value[3] == UInt8(ascii: "0")
    if !isRight { note("'jsonrpc' is \"2.0\"") }
  }
}
