internal import JSON

/// The members of a request object, read in one pass.
///
/// Holds ranges only, so that it is cheap to copy.
struct RequestMembers {
  /// The rules of JSON-RPC that a request can break.
  enum Rule {
    case object
    case method
    case methodString
    case methodOnce
    case id
    case idOnce
    case idLength
    case params
    case paramsOnce
    case version
    case versionOnce
    case unknown
  }

  var id: Range<Int>?
  var method: JSONScanner.StringToken?
  var params: Range<Int>?
  var isPositional = false

  /// The first broken rule.
  var broken: Rule?

  /// The name of the first unknown member.
  private var unknown: JSONScanner.StringToken?
  private var hasVersion = false

  /// Reads one value as a request.
  ///
  /// Stores the first broken rule in ``broken``.
  ///
  /// - Throws: ``JSONFault`` if the value is not valid JSON.
  mutating func read(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>, _ limits: Limits
  ) throws(JSONFault) {
    guard try scanner.kind() == .object else {
      _ = try scanner.value()
      broken = .object
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
        // The value may be sent deeper nested than it is here.
        _ = try scanner.value(depth: JSONLimits.surroundings - 1)
        let value = start..<scanner.position
        if scanner.token(key, is: "id") {
          readID(value, kind, limits)
        } else if scanner.token(key, is: "params") {
          readParams(value, kind)
        } else if scanner.token(key, is: "jsonrpc") {
          readVersion(value, line)
        } else {
          if unknown == nil { unknown = key }
          note(.unknown)
        }
      }
      more = try scanner.nextMember()
    }
    if method == nil { note(.method) }
  }

  // MARK: Requests that break a limit

  /// Returns the `id` of a request that breaks a limit, so that the error answer can carry it.
  ///
  /// Returns `nil` if the text is not JSON or if its `id` cannot be echoed.
  ///
  /// - Parameter start: The offset of the request. Nothing may follow a request at offset 0.
  static func id(in line: Span<UInt8>, at start: Int = 0, limits: Limits) -> RequestID? {
    var scanner = JSONScanner(lenient: line, at: start)
    var id: RequestID?
    do throws(JSONFault) {
      guard try scanner.kind() == .object else { return nil }
      var more = try scanner.enterObject()
      while more {
        let key = try scanner.key()
        let isID = isStrict(line, at: key.start - 1) && scanner.token(key, is: "id")
        let kind = try scanner.kind()
        let start = scanner.position
        _ = try scanner.value()
        if isID { id = self.id(in: line, start..<scanner.position, kind, limits) }
        more = try scanner.nextMember()
      }
      if start == 0 { try scanner.end() }
      return id
    } catch {
      return nil
    }
  }

  private static func id(
    in line: Span<UInt8>, _ range: Range<Int>, _ kind: JSONScanner.Kind, _ limits: Limits
  ) -> RequestID? {
    switch kind {
    case .string where range.count <= limits.idBytes + 2, .number, .null:
      guard isStrict(line, at: range.lowerBound) else { return nil }
      return RequestID(text: JSONText(scanned: line.extracting(range)).text)
    case .string, .bool, .array, .object: return nil
    }
  }

  /// Returns whether a value respects all limits.
  private static func isStrict(_ line: Span<UInt8>, at start: Int) -> Bool {
    var scanner = JSONScanner(line, at: start)
    return (try? scanner.value()) != nil
  }

  /// Returns the ranges of the elements of a batch that breaks a limit; `nil` if the line is not
  /// JSON.
  static func elements(in line: Span<UInt8>, atMost count: Int) -> [Range<Int>]? {
    var scanner = JSONScanner(lenient: line)
    var elements: [Range<Int>] = []
    do throws(JSONFault) {
      var more = try scanner.enterArray()
      while more {
        _ = try scanner.kind()
        let start = scanner.position
        _ = try scanner.value()
        if elements.count < count { elements.append(start..<scanner.position) }
        more = try scanner.nextElement()
      }
      try scanner.end()
      return elements
    } catch {
      return nil
    }
  }

  private mutating func note(_ rule: Rule) {
    if broken == nil { broken = rule }
  }

  private mutating func readMethod(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind
  ) throws(JSONFault) {
    guard kind == .string else {
      _ = try scanner.value(depth: 1)
      return note(.methodString)
    }
    if method != nil { note(.methodOnce) }
    method = try scanner.string()
  }

  private mutating func readID(_ value: Range<Int>, _ kind: JSONScanner.Kind, _ limits: Limits) {
    if id != nil { note(.idOnce) }
    switch kind {
    case .string where value.count > limits.idBytes + 2: note(.idLength)
    case .string, .number, .null: id = value
    case .bool, .array, .object: note(.id)
    }
  }

  private mutating func readParams(_ value: Range<Int>, _ kind: JSONScanner.Kind) {
    if params != nil { note(.paramsOnce) }
    guard kind == .object || kind == .array else { return note(.params) }
    params = value
    isPositional = kind == .array
  }

  private mutating func readVersion(_ value: Range<Int>, _ line: Span<UInt8>) {
    if hasVersion { note(.versionOnce) }
    hasVersion = true
    let at = value.lowerBound
    let isRight =
      value.count == 5 && line[at] == UInt8(ascii: "\"") && line[at + 1] == UInt8(ascii: "2")
      && line[at + 2] == UInt8(ascii: ".") && line[at + 3] == UInt8(ascii: "0")
    if !isRight { note(.version) }
  }

  /// Returns an explanation of the broken rule, or `nil` if there is none.
  func why(_ line: Span<UInt8>, _ limits: Limits) -> String? {
    switch broken {
    case nil: nil
    case .object: "a request is an object"
    case .method: "a request has a member 'method'"
    case .methodString: "'method' is a string"
    case .methodOnce: "'method' occurs twice"
    case .id: "'id' is a string, a number or null"
    case .idOnce: "'id' occurs twice"
    case .idLength: "'id' has at most \(limits.idBytes) bytes"
    case .params: "'params' is an object or an array"
    case .paramsOnce: "'params' occurs twice"
    case .version: #"'jsonrpc' is "2.0""#
    case .versionOnce: "'jsonrpc' occurs twice"
    case .unknown:
      "unknown member '\(unknown.map { JSONScanner(line).text($0).prefix(64) } ?? "")'"
    }
  }
}
