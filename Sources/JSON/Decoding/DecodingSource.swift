/// The text that is being decoded, and what is known of it.
///
/// The decoders that the standard library asks for hold one reference each, to this or to one of
/// its objects: counting references is most of what decoding a small text costs.
final class DecodingSource {
  /// A value in the text.
  struct Place {
    var start: Int
    var end: Int
    var kind: JSONScanner.Kind
    /// For a string: whether it holds escapes.
    var isEscaped = false
  }

  private(set) var bytes = ByteBuffer()

  /// The members' names when the text is an array that stands for an object.
  var names: [String]?

  /// A member of the whole that belongs to somebody else.
  var otherMember: String?

  /// The objects that were looked into, reused from text to text.
  private var objects: [ObjectIndex] = []
  private var objectCount = 0

  /// The place of each in ``objects`` by where it starts, when there are too many to look through.
  private var objectsByStart: [Int: Int] = [:]

  private static let searchable = 16

  /// How many are kept for the next text.
  private static let kept = 256

  func load(_ text: Span<UInt8>) {
    bytes.removeAll(keepingCapacity: 1 << 16)
    bytes.append(text)
    names = nil
    otherMember = nil
    objectCount = 0
    if !objectsByStart.isEmpty { objectsByStart = [:] }
    if objects.count > Self.kept { objects.removeLast(objects.count - Self.kept) }
  }

  /// The value that the text is.
  var whole: Place {
    get throws { try bytes.scanned { scanner throws(JSONFault) in try Place(passing: &scanner) } }
  }

  // MARK: Values

  func value<Value: Decodable>(
    _ type: Value.Type, in place: Place, at path: @autoclosure () -> [any CodingKey]
  ) throws -> Value {
    if type == String.self {
      return unsafe unsafeBitCast(try string(place, at: path()), to: type)
    }
    if type == JSONText.self {
      return unsafe unsafeBitCast(text(place), to: type)
    }
    if type == JSONNumber.self {
      return unsafe unsafeBitCast(try number(place, at: path()), to: type)
    }
    if type == JSONValue.self {
      return unsafe unsafeBitCast(text(place).value, to: type)
    }
    return try type.init(from: ValueDecoder(source: self, place: place, codingPath: path()))
  }

  func text(_ place: Place) -> JSONText {
    bytes.text(place)
  }

  func string(_ place: Place, at path: @autoclosure () -> [any CodingKey]) throws -> String {
    guard place.kind == .string else { throw mismatch("string", place, path()) }
    return bytes.string(
      JSONScanner.StringToken(
        start: place.start + 1, end: place.end - 1, isEscaped: place.isEscaped))
  }

  func bool(_ place: Place, at path: @autoclosure () -> [any CodingKey]) throws -> Bool {
    guard place.kind == .bool else { throw mismatch("boolean", place, path()) }
    return place.end - place.start == 4
  }

  func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ place: Place, at path: @autoclosure () -> [any CodingKey]
  ) throws -> Integer {
    guard place.kind == .number else { throw mismatch("integer", place, path()) }
    let integer = bytes.integer(place)
    guard let integer, let value = Integer(exactly: integer) else {
      if let value = Integer(bytes.text(place).text) { return value }  // beyond Int64
      let range = "integer from \(Integer.min) to \(Integer.max)"
      throw JSONDecodingError(
        at: path(), expected: integer == nil ? "integer" : range, got: "another number")
    }
    return value
  }

  func double(_ place: Place, at path: @autoclosure () -> [any CodingKey]) throws -> Double {
    guard place.kind == .number, let value = Double(bytes.text(place).text) else {
      throw mismatch("number", place, path())
    }
    return value
  }

  private func number(
    _ place: Place, at path: @autoclosure () -> [any CodingKey]
  ) throws -> JSONNumber {
    guard place.kind == .number else { throw mismatch("number", place, path()) }
    return JSONNumber(scanned: bytes.text(place).text)
  }

  func mismatch(
    _ expected: String, _ place: Place, _ path: [any CodingKey]
  ) -> JSONDecodingError {
    JSONDecodingError(at: path, expected: expected, got: "\(place.kind)")
  }

  // MARK: Objects

  /// The members of an object, looked up at most once for each object of a text.
  func object(
    _ place: Place, at path: @autoclosure () -> [any CodingKey]
  ) throws -> ObjectIndex {
    if let known = known(at: place.start) { return known }
    if objectCount == objects.count { objects.append(ObjectIndex(source: self)) }
    let object = objects[objectCount]
    if place.kind == .array, place.start == 0, let names {
      try object.load(elementsOf: bytes, named: names, at: place.start, path: path())
    } else {
      guard place.kind == .object else { throw mismatch("object", place, path()) }
      try object.load(membersOf: bytes, at: place.start, path: path())
    }
    note(object)
    return object
  }

  /// The object that starts at a place, if it was looked into.
  private func known(at start: Int) -> ObjectIndex? {
    guard objectCount > Self.searchable else {
      return objects[..<objectCount].first { $0.start == start }
    }
    return objectsByStart[start].map { objects[$0] }
  }

  private func note(_ object: ObjectIndex) {
    objectCount += 1
    guard objectCount > Self.searchable else { return }
    if objectsByStart.isEmpty {
      for i in 0..<objectCount { objectsByStart[objects[i].start] = i }
    } else {
      objectsByStart[object.start] = objectCount - 1
    }
  }

  /// The members of the whole; `nil` when the type that was decoded has not looked into it.
  var members: ObjectIndex? { objectCount > 0 ? objects[0] : nil }

  func checkUnknownMembers() throws(JSONDecodingError) {
    if let otherMember, objectCount > 0 { _ = objects[0].find(otherMember) }
    for i in 0..<objectCount { try objects[i].checkUnknownMembers() }
  }
}

extension DecodingSource.Place {
  /// Passes a value and notes where it stands.
  init(passing scanner: inout JSONScanner) throws(JSONFault) {
    kind = try scanner.kind()
    start = scanner.position
    if kind == .string {
      isEscaped = try scanner.string().isEscaped
    } else {
      _ = try scanner.value()
    }
    end = scanner.position
  }
}

/// What is read at places of the text; as functions of the buffer, they cost no copy of it.
extension ByteBuffer {
  func scanned<Result>(
    from start: Int = 0, _ body: (inout JSONScanner) throws(JSONFault) -> Result
  ) throws(JSONFault) -> Result {
    // A text that is decoded was accepted before, by whoever limits what comes from outside.
    var scanner = JSONScanner(kept: span, at: start)
    return try body(&scanner)
  }

  fileprivate func text(_ place: DecodingSource.Place) -> JSONText {
    JSONText(scanned: span.extracting(place.start..<place.end))
  }

  fileprivate func integer(_ place: DecodingSource.Place) -> Int64? {
    JSONScanner(span).integer(place.start..<place.end)
  }

  func string(_ token: JSONScanner.StringToken) -> String {
    JSONScanner(span).text(token)
  }

  /// Whether the bytes of a token are `wanted`.
  @inline(__always)
  func bytes(_ token: JSONScanner.StringToken, are wanted: Span<UInt8>) -> Bool {
    guard token.end - token.start == wanted.count else { return false }
    let span = span
    for i in 0..<wanted.count where span[token.start + i] != wanted[i] { return false }
    return true
  }
}
