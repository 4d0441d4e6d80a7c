public import JSON

/// One request, as ranges of its line.
///
/// A line has at most 2 GiB, so the offsets are small; a request is copied by a few instructions.
public struct Request: Sendable {
  /// The range of the identifier; it is not valid in a notification.
  private var (idStart, idEnd): (Int32, Int32) = (0, -1)

  private var (paramsStart, paramsEnd): (Int32, Int32) = (0, -1)

  /// The name of the method.
  public private(set) var method = JSONScanner.StringToken(start: 0, end: 0, isEscaped: false)

  /// Whether the parameters are an array.
  public private(set) var isPositional = false

  /// The number of the shape, or -1.
  private var shapeNumber: Int32 = -1

  /// The members of ``params``; see ``RequestParameters/isComplete``.
  public internal(set) var parameters = RequestParameters()

  /// Creates a request to be read.
  public init() {}

  /// A request that is not valid.
  public struct Fault: Error, Equatable, Sendable {
    /// The identifier for the answer; `null` if it could not be read.
    public let id: RequestID

    /// The error to answer.
    public let error: WireError
  }

  /// Parses a line with one request.
  ///
  /// - Parameter idBytes: The most bytes of an identifier.
  /// - Throws: ``Fault`` with a `parse_error` or an `invalid_request`.
  public init(parsing line: Span<UInt8>, idBytes: Int) throws(Fault) {
    var scanner = JSONScanner(line)
    var members = RequestMembers()
    do throws(JSONFault) {
      try members.read(&scanner, line, idBytes: idBytes)
      try scanner.end()
    } catch {
      throw Fault(
        id: RequestMembers.id(in: line, idBytes: idBytes) ?? .null, error: WireError(error))
    }
    try self.init(members, line, idBytes)
  }

  @inline(__always)
  init(
    _ members: RequestMembers, _ line: Span<UInt8>, _ idBytes: Int
  ) throws(Fault) {
    guard members.broken == nil, let method = members.method else {
      throw members.fault(line, idBytes)
    }
    if let id = members.id { setID(id) }
    self.method = method
    if let params = members.params { setParams(params) }
    isPositional = members.isPositional
    parameters = members.parameters
  }

  /// Reads a call within a request: an object with `method` and perhaps `params`.
  ///
  /// - Returns: `nil` if it has other members, or breaks a rule.
  public init?(partOf line: Span<UInt8>, _ scanner: inout JSONScanner) throws(JSONFault) {
    var members = RequestMembers()
    try members.read(&scanner, line, idBytes: 0)
    guard members.broken == nil, members.id == nil, !members.hasVersion,
      let method = members.method
    else { return nil }
    self.method = method
    if let params = members.params { setParams(params) }
    isPositional = members.isPositional
    parameters = members.parameters
  }

  /// Creates a call without a method whose line is the text of its parameters.
  ///
  /// - Parameter text: Their text; `nil` if there are none.
  public init(parameters text: JSONText?) {
    guard let text else { return }
    var scanner = JSONScanner(text.text.utf8.span)
    do throws(JSONFault) {
      switch try scanner.kind() {
      case .object: try parameters.read(&scanner)
      case .array:
        isPositional = true
        try parameters.readElements(&scanner)
      case .null, .bool, .number, .string: parameters = .unread
      }
    } catch {
      parameters = .unread
    }
    setParams(0..<text.text.utf8.count)
  }

  @inline(__always)
  private mutating func setID(_ place: Range<Int>) {
    idStart = Int32(truncatingIfNeeded: place.lowerBound)
    idEnd = Int32(truncatingIfNeeded: place.upperBound)
  }

  @inline(__always)
  mutating func setParams(_ place: Range<Int>) {
    paramsStart = Int32(truncatingIfNeeded: place.lowerBound)
    paramsEnd = Int32(truncatingIfNeeded: place.upperBound)
  }

  /// Sets what was read by a shape, besides ``params`` and ``parameters``.
  @inline(__always)
  mutating func set(shape: Int, id: Range<Int>, method: Range<Int>) {
    shapeNumber = Int32(truncatingIfNeeded: shape)
    setID(id)
    self.method = JSONScanner.StringToken(
      start: method.lowerBound, end: method.upperBound, isEscaped: false, isPlain: true)
  }

  /// The range of the parameters, an object or an array; `nil` if there are none.
  public var params: Range<Int>? {
    paramsEnd < 0 ? nil : Int(paramsStart)..<Int(paramsEnd)
  }

  /// The number of the shape in which it is written, the same as that of its method.
  ///
  /// `nil` if it was read by the general scan. See ``RequestShapes``.
  public var shape: Int? { shapeNumber < 0 ? nil : Int(shapeNumber) }

  /// Whether the request is a notification, which gets no answer.
  public var isNotification: Bool { idEnd < 0 }

  /// Returns the request identifier; `nil` for a notification.
  @inline(__always)
  public func id(in line: Span<UInt8>) -> RequestID? {
    guard idEnd >= 0 else { return nil }
    return RequestID(scanned: Int(idStart)..<Int(idEnd), of: line)
  }
}

/// The requests of a batch.
public enum Batch {
  /// Parses the requests of a batch.
  ///
  /// - Returns: A request or its fault for each element, in order.
  /// - Throws: ``Request/Fault`` if the whole line is not a batch.
  public static func parse(
    _ line: Span<UInt8>, limits: Limits
  ) throws(Request.Fault) -> [Result<Request, Request.Fault>] {
    let idBytes = limits.idBytes
    var requests: [Result<Request, Request.Fault>] = []
    do throws(JSONFault) {
      var whole = JSONScanner(line)
      _ = try whole.value()
      try whole.end()
      var scanner = JSONScanner(line)
      var more = try scanner.enterArray()
      while more, requests.count <= limits.batch {
        var members = RequestMembers()
        try members.read(&scanner, line, idBytes: idBytes)
        requests.append(Result { () throws(Request.Fault) in try Request(members, line, idBytes) })
        more = try scanner.nextElement()
      }
    } catch {
      // An element over a limit is still JSON, so its neighbours can be read.
      guard let parts = RequestMembers.elements(in: line, atMost: limits.batch + 1) else {
        throw Request.Fault(id: .null, error: WireError(error))
      }
      requests = parts.map { part in read(part, of: line, idBytes) }
    }
    guard !requests.isEmpty else {
      throw Request.Fault(id: .null, error: .invalidRequest("a batch holds at least one request"))
    }
    guard requests.count <= limits.batch else {
      throw Request.Fault(id: .null, error: .limit(.batch, limits, .batchTooLarge))
    }
    return requests
  }

  /// Parses one element of a batch.
  private static func read(
    _ part: Range<Int>, of line: Span<UInt8>, _ idBytes: Int
  ) -> Result<Request, Request.Fault> {
    Result { () throws(Request.Fault) in
      var scanner = JSONScanner(line, at: part.lowerBound)
      var members = RequestMembers()
      do throws(JSONFault) {
        try members.read(&scanner, line, idBytes: idBytes)
      } catch {
        let id = RequestMembers.id(in: line, at: part.lowerBound, idBytes: idBytes)
        throw Request.Fault(id: id ?? .null, error: WireError(error))
      }
      return try Request(members, line, idBytes)
    }
  }
}

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

  /// The members of a request, by name.
  private enum Member {
    case id, method, params, version, unknown

    @inline(__always)
    init(_ key: JSONScanner.StringToken, _ scanner: borrowing JSONScanner) {
      if scanner.token(key, is: "id") {
        self = .id
      } else if scanner.token(key, is: "method") {
        self = .method
      } else if scanner.token(key, is: "params") {
        self = .params
      } else if scanner.token(key, is: "jsonrpc") {
        self = .version
      } else {
        self = .unknown
      }
    }
  }

  var id: Range<Int>?
  var method: JSONScanner.StringToken?
  var params: Range<Int>?
  var isPositional = false
  var parameters = RequestParameters()

  /// The first broken rule.
  var broken: Rule?

  /// The name of the first unknown member.
  private var unknown: JSONScanner.StringToken?
  fileprivate private(set) var hasVersion = false

  /// Reads one value as a request.
  ///
  /// Stores the first broken rule in ``broken``.
  ///
  /// - Throws: ``JSONFault`` if the value is not valid JSON.
  mutating func read(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>, idBytes: Int
  ) throws(JSONFault) {
    guard try scanner.kind() == .object else {
      _ = try scanner.value()
      broken = .object
      return
    }
    var more = try scanner.enterObject()
    while more {
      switch scanner.keyWord() {
      case Self.methodKey:
        scanner.skip(9)
        try readMethod(&scanner, try scanner.kind())
      case Self.paramsKey:
        scanner.skip(9)
        try readParams(&scanner, try scanner.kind())
      case let word where word & Self.idMask == Self.idKey:
        scanner.skip(5)
        try readID(&scanner, try scanner.kind(), idBytes)
      case Self.versionKey where scanner.word(behind: 9) & Self.versionMask == Self.version:
        scanner.skip(15)
        setVersion(isRight: true)
      default: try readOther(&scanner, line, idBytes)
      }
      more = try scanner.nextMember()
    }
    if method == nil { fail(.method) }
  }

  // The names of members as they are usually written, as little-endian words behind the quote.
  private static let methodKey: UInt64 = 0x3A22_646F_6874_656D  // method":
  private static let paramsKey: UInt64 = 0x3A22_736D_6172_6170  // params":
  private static let versionKey: UInt64 = 0x2263_7072_6E6F_736A  // jsonrpc"
  private static let (idKey, idMask): (UInt64, UInt64) = (0x3A22_6469, 0xFFFF_FFFF)  // id":

  // What follows `jsonrpc"`: `:"2.0"`.
  private static let version: UInt64 = 0x2230_2E32_223A
  private static let versionMask: UInt64 = 0xFFFF_FFFF_FFFF

  /// Reads a member whose name is unknown, or written in another way.
  @inline(never)
  private mutating func readOther(
    _ scanner: inout JSONScanner, _ line: Span<UInt8>, _ idBytes: Int
  ) throws(JSONFault) {
    let key = try scanner.key()
    let kind = try scanner.kind()
    switch Member(key, scanner) {
    case .method: try readMethod(&scanner, kind)
    case .params: try readParams(&scanner, kind)
    case .id: try readID(&scanner, kind, idBytes)
    case .version:
      let start = scanner.position
      try scanner.value(kind, depth: JSONLimits.surroundings - 1)
      setVersion(
        isRight: line.extracting(start..<scanner.position).hasSameBytes(as: #""2.0""#.utf8.span))
    case .unknown:
      try scanner.value(kind, depth: JSONLimits.surroundings - 1)
      if unknown == nil { unknown = key }
      fail(.unknown)
    }
  }

  // MARK: Requests that break a limit

  /// Returns the `id` of a request that breaks a limit, so that the error answer can carry it.
  ///
  /// Returns `nil` if the text is not JSON or if its `id` cannot be echoed.
  ///
  /// - Parameter start: The offset of the request. Nothing may follow a request at offset 0.
  static func id(in line: Span<UInt8>, at start: Int = 0, idBytes: Int) -> RequestID? {
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
        if isID { id = self.id(in: line, start..<scanner.position, kind, idBytes) }
        more = try scanner.nextMember()
      }
      if start == 0 { try scanner.end() }
      return id
    } catch {
      return nil
    }
  }

  private static func id(
    in line: Span<UInt8>, _ range: Range<Int>, _ kind: JSONScanner.Kind, _ idBytes: Int
  ) -> RequestID? {
    switch kind {
    case .string where range.count <= idBytes + 2, .number, .null:
      guard isStrict(line, at: range.lowerBound) else { return nil }
      return RequestID(scanned: range, of: line)
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

  private mutating func fail(_ rule: Rule) {
    if broken == nil { broken = rule }
  }

  @inline(__always)
  private mutating func readMethod(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind
  ) throws(JSONFault) {
    guard kind == .string else {
      _ = try scanner.value(depth: 1)
      return fail(.methodString)
    }
    if method != nil { fail(.methodOnce) }
    method = try scanner.string()
  }

  @inline(__always)
  private mutating func readID(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind, _ most: Int
  ) throws(JSONFault) {
    let start = scanner.position
    try scanner.value(kind, depth: JSONLimits.surroundings - 1)
    let value = start..<scanner.position
    if id != nil { fail(.idOnce) }
    switch kind {
    case .string where value.count > most + 2: fail(.idLength)
    case .string, .number, .null: id = value
    case .bool, .array, .object: fail(.id)
    }
  }

  @inline(__always)
  private mutating func readParams(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind
  ) throws(JSONFault) {
    if params != nil { fail(.paramsOnce) }
    let start = scanner.position
    switch kind {
    case .object: try parameters.read(&scanner)
    case .array:
      try parameters.readElements(&scanner)
    default:
      try scanner.value(kind, depth: JSONLimits.surroundings - 1)
      return fail(.params)
    }
    params = start..<scanner.position
    isPositional = kind == .array
  }

  private mutating func setVersion(isRight: Bool) {
    if hasVersion { fail(.versionOnce) }
    hasVersion = true
    if !isRight { fail(.version) }
  }

  /// Returns the fault of a request that breaks a rule.
  @inline(never)
  func fault(_ line: Span<UInt8>, _ idBytes: Int) -> Request.Fault {
    var error = WireError.invalidRequest(why(line, idBytes) ?? "")
    if broken == .idLength { error.data.add(.idBytes, max: idBytes) }
    let id = id.map { RequestID(scanned: $0, of: line) }
    return Request.Fault(id: id ?? .null, error: error)
  }

  /// Returns an explanation of the broken rule, or `nil` if there is none.
  func why(_ line: Span<UInt8>, _ idBytes: Int) -> String? {
    switch broken {
    case nil: nil
    case .object: "a request is an object"
    case .method: "a request has a member 'method'"
    case .methodString: "'method' is a string"
    case .methodOnce: "'method' occurs twice"
    case .id: "'id' is a string, a number or null"
    case .idOnce: "'id' occurs twice"
    case .idLength: "'id' has at most \(idBytes) bytes"
    case .params: "'params' is an object or an array"
    case .paramsOnce: "'params' occurs twice"
    case .version: #"'jsonrpc' is "2.0""#
    case .versionOnce: "'jsonrpc' occurs twice"
    case .unknown:
      "unknown member '\(unknown.map { JSONScanner(line).text($0).prefix(64) } ?? "")'"
    }
  }
}
