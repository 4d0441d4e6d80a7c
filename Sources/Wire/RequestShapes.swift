internal import JSON

/// The usual shapes of requests, in which clients write nearly all of them.
///
///     {"jsonrpc":"2.0","id":7,"method":"cells.set","params":{"name":"lamp","value":true}}
///
/// They follow from the names of the methods and of their parameters. A request in such a shape is
/// read by comparing words with the texts between its values, and by scanning the values. So each byte
/// is checked, and the result is that of the general scan, ``Request/init(parsing:idBytes:)``, which
/// reads all other lines and finds all errors.
public struct RequestShapes: Sendable {
  /// A text between two values.
  private struct Literal {
    /// The first of its words in ``words``.
    let first: Int

    /// The number of its bytes.
    let count: Int

    /// The number of bytes of the name of the parameter that follows; 0 if none does.
    let name: Int
  }

  /// The shapes of a method.
  private struct Shape {
    /// The text of a request without parameters, from the identifier to the end.
    let alone: Int

    /// The first text before a parameter in ``literals``.
    let first: Int

    /// The number of parameters that are looked for: at most ``RequestParameters/most``.
    let count: Int

    let nameBytes: Int
  }

  /// The words of all texts, as they are in memory; the last one of a text overlaps the one before.
  private var words: [UInt64] = []
  private var literals: [Literal] = []
  private var shapes: [Shape] = []
  private let names: NameTable

  /// The shape that was found last.
  ///
  /// The next request often has the same.
  private var last = 0

  /// The text before the options of a call.
  private let options: Int

  /// The bytes between an identifier and the name of the method.
  private static let methodBytes = #","method":""#.utf8.count

  /// - Parameter methods: The methods, with the names of their parameters in the usual order. The
  ///   number of a shape is the index of its method.
  public init(_ methods: [(name: String, parameters: [String])] = []) {
    names = NameTable(methods.map(\.name))
    var texts = Texts()
    options = texts.append(#","_meta":"#)
    for method in methods {
      let start = #","method":""# + method.name
      let alone = texts.append(start + #""}"#)
      let first = texts.literals.count
      let parameters = method.parameters.prefix(RequestParameters.most)
      for (i, name) in parameters.enumerated() {
        texts.append((i == 0 ? start + #"","params":{"# : ",") + "\"\(name)\":", name.utf8.count)
      }
      shapes.append(
        Shape(
          alone: alone, first: first, count: parameters.count, nameBytes: method.name.utf8.count))
    }
    (words, literals) = (texts.words, texts.literals)
  }

  /// Texts, and their words.
  private struct Texts {
    var words: [UInt64] = []
    var literals: [Literal] = []

    @discardableResult
    mutating func append(_ text: String, _ name: Int = 0) -> Int {
      let bytes = Array(text.utf8)
      literals.append(Literal(first: words.count, count: bytes.count, name: name))
      let width = bytes.count < 8 ? 4 : 8
      for start in Array(stride(from: 0, through: bytes.count - width, by: width)) + [
        bytes.count - width
      ] {
        var word: UInt64 = 0
        for i in (0..<width).reversed() { word = word << 8 | UInt64(bytes[start + i]) }
        words.append(word)
      }
      return literals.count - 1
    }
  }

  /// Reads a request that is written in the usual shape of its method.
  ///
  /// - Parameter request: A new request.
  /// - Returns: `false` for any other line; the request is then of no use.
  public mutating func read(
    _ line: Span<UInt8>, into request: inout Request, idBytes: Int
  ) -> Bool {
    var scanner = JSONScanner(line)
    guard skipHead(&scanner) else { return false }
    do throws(JSONFault) {
      let kind = try scanner.kind()
      let start = scanner.position
      switch kind {
      case .number: try scanner.number()
      case .string:
        _ = try scanner.string()
        guard scanner.position &- start <= idBytes &+ 2 else { return false }
      case .null, .bool, .array, .object: return false
      }
      return try read(&scanner, start..<scanner.position, line, into: &request)
    } catch {
      return false
    }
  }

  // The beginnings of a line, as little-endian words; the last word overlaps the one before.
  private static let head: (UInt64, UInt64, UInt64) = (
    0x7072_6E6F_736A_227B, 0x2230_2E32_223A_2263, 0x3A22_6469_222C_2230  // {"jsonrpc":"2.0","id":
  )
  private static let (shortHead, shortHeadMask): (UInt64, UInt64) = (
    0x3A22_6469_227B, 0xFFFF_FFFF_FFFF  // {"id":
  )

  @inline(__always)
  private func skipHead(_ scanner: inout JSONScanner) -> Bool {
    let first = scanner.word(behind: 0)
    if first == Self.head.0, scanner.word(behind: 8) == Self.head.1,
      scanner.word(behind: 14) == Self.head.2
    {
      scanner.skip(22)
      return true
    }
    guard first & Self.shortHeadMask == Self.shortHead else { return false }
    scanner.skip(6)
    return true
  }

  /// Reads the rest of a request.
  @inline(__always)
  private mutating func read(
    _ scanner: inout JSONScanner, _ id: Range<Int>, _ line: Span<UInt8>,
    into request: inout Request
  ) throws(JSONFault) -> Bool {
    let start = scanner.position
    if last >= shapes.count || !skipMethod(last, &scanner, line.count) {
      guard let found = find(scanner, line), skipMethod(found, &scanner, line.count) else {
        return false
      }
      last = found
    }
    let shape = unsafe shapes.span[unchecked: last]
    let name = start &+ Self.methodBytes
    request.set(shape: last, id: id, method: name..<name &+ shape.nameBytes)
    // A line may also end behind the name of its first parameter; then it is no JSON.
    if scanner.position == line.count { return line[line.count &- 1] == UInt8(ascii: "}") }
    var next = shape.first
    let params = scanner.position &- nameBytes(next) &- 4  // a brace, two quotes and a colon
    request.parameters.isInUsualOrder = true
    while true {
      let end = scanner.position &- 2
      let name = end &- nameBytes(next)..<end
      let kind = try scanner.kind()
      let start = scanner.position
      let (isEscaped, isPlain) = try RequestParameters.readValue(&scanner, kind)
      request.parameters.append(
        name, start..<scanner.position, kind, isEscaped: isEscaped, isPlain: isPlain)
      next &+= 1
      if scanner.isEnd(of: 2) {
        request.setParams(params..<scanner.position &+ 1)
        return true
      }
      guard next < shape.first &+ shape.count, skip(next, &scanner) else { break }
    }
    guard skip(options, &scanner) else { return false }
    let kind = try scanner.kind()
    let value = scanner.position
    try scanner.value(kind, depth: JSONLimits.surroundings)
    request.parameters.options = value..<scanner.position
    request.setParams(params..<scanner.position &+ 1)
    return scanner.isEnd(of: 2)
  }

  @inline(__always)
  private func nameBytes(_ literal: Int) -> Int { unsafe literals.span[unchecked: literal].name }

  /// Skips the name of a method and what follows: the end of the line, or the name of its first
  /// parameter.
  @inline(__always)
  private func skipMethod(_ number: Int, _ scanner: inout JSONScanner, _ count: Int) -> Bool {
    let shape = unsafe shapes.span[unchecked: number]
    if shape.count > 0, skip(shape.first, &scanner) { return true }
    let end = scanner.position &+ (unsafe literals.span[unchecked: shape.alone].count)
    return end == count && skip(shape.alone, &scanner)
  }

  /// Returns the shape of the method whose name is in front of the scanner; `nil` if there is none.
  @inline(never)
  private func find(_ scanner: borrowing JSONScanner, _ line: Span<UInt8>) -> Int? {
    guard let name = scanner.upcomingString(behind: Self.methodBytes) else { return nil }
    return names.find(line.extracting(name))
  }

  /// Skips a text if it comes next.
  @inline(__always)
  private func skip(_ literal: Int, _ scanner: inout JSONScanner) -> Bool {
    let literal = unsafe literals.span[unchecked: literal]
    guard unsafe scanner.holds(words.span, from: literal.first, count: literal.count) else {
      return false
    }
    scanner.skip(literal.count)
    return true
  }
}
