/// The text that is being decoded, with an index of its objects.
///
/// The decoders that the standard library requires hold one reference each, to this object or to
/// one of its indexes. Reference counting is most of the cost of decoding a small text.
final class DecodingSource {
  /// The range and kind of a value in the text.
  struct Place {
    var start: Int
    var end: Int
    var kind: JSONScanner.Kind
    /// For a string: whether it contains escapes.
    var isEscaped = false
  }

  private(set) var bytes = ByteBuffer()

  /// Member names by position, if the text is an array to decode as an object; otherwise `nil`.
  var names: [String]?

  /// The top-level member that the caller decodes separately; see ``JSONDecoder/decodeMember(_:)``.
  var otherMember: String?

  /// The most elements of an array that is read element by element.
  var maxElements = Int.max

  /// Indexes of the objects read so far.
  ///
  /// They are reused for the next text.
  private var objects: [ObjectIndex] = []
  private var objectCount = 0

  /// Positions in ``objects`` by start offset, filled only if there are too many to search.
  private var objectsByStart: [Int: Int] = [:]

  private static let searchable = 16

  /// The number of object indexes to keep for the next text.
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

  /// The place of the whole value.
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
    if type == [JSONText].self {
      // A decoder for each element would cost ten times as much.
      return unsafe unsafeBitCast(try texts(place, at: path()), to: type)
    }
    return try type.init(from: ValueDecoder(source: self, place: place, codingPath: path()))
  }

  private func texts(
    _ place: Place, at path: @autoclosure () -> [any CodingKey]
  ) throws -> [JSONText] {
    guard place.kind == .array else { throw mismatch("array", place, path()) }
    let elements = try bytes.elements(from: place.start, atMost: maxElements)
    guard let elements else {
      throw JSONDecodingError(
        at: path(), expected: "at most \(maxElements) elements", got: "more")
    }
    return elements
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

  /// Returns a number that a `Float` can hold.
  func float(_ place: Place, at path: @autoclosure () -> [any CodingKey]) throws -> Float {
    let value = Float(try double(place, at: path()))
    guard value.isFinite else { throw mismatch("number of 32 bits", place, path()) }
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

  /// Returns the members of an object.
  ///
  /// Each object of a text is indexed at most once.
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
    index(object)
    return object
  }

  /// Returns the index of the object that starts at an offset, or `nil` if it was not read yet.
  private func known(at start: Int) -> ObjectIndex? {
    guard objectCount > Self.searchable else {
      return objects[..<objectCount].first { $0.start == start }
    }
    return objectsByStart[start].map { objects[$0] }
  }

  private func index(_ object: ObjectIndex) {
    objectCount += 1
    guard objectCount > Self.searchable else { return }
    if objectsByStart.isEmpty {
      for i in 0..<objectCount { objectsByStart[objects[i].start] = i }
    } else {
      objectsByStart[object.start] = objectCount - 1
    }
  }

  /// The members of the top-level object; `nil` if the decoded type has not read any object.
  var members: ObjectIndex? { objectCount > 0 ? objects[0] : nil }

  func checkUnknownMembers() throws(JSONDecodingError) {
    if let otherMember, objectCount > 0 { _ = objects[0].find(otherMember) }
    for i in 0..<objectCount { try objects[i].checkUnknownMembers() }
  }
}

extension DecodingSource.Place {
  /// Skips a value and records its range.
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

/// Reads values at given places.
///
/// These are methods of the buffer to avoid copying it.
extension ByteBuffer {
  func scanned<Result>(
    from start: Int = 0, _ body: (inout JSONScanner) throws(JSONFault) -> Result
  ) throws(JSONFault) -> Result {
    // A decoded text was accepted before, so limits do not apply here.
    var scanner = JSONScanner(trusted: span, at: start)
    return try body(&scanner)
  }

  fileprivate func text(_ place: DecodingSource.Place) -> JSONText {
    JSONText(scanned: span.extracting(place.start..<place.end))
  }

  /// Returns the elements of an array; `nil` if there are more than `max`.
  fileprivate func elements(from start: Int, atMost max: Int) throws(JSONFault) -> [JSONText]? {
    let bytes = span
    var scanner = JSONScanner(trusted: bytes, at: start)
    var elements: [JSONText] = []
    var more = try scanner.enterArray()
    while more {
      guard elements.count < max else { return nil }
      let first = scanner.position
      _ = try scanner.value()
      elements.append(JSONText(scanned: bytes.extracting(first..<scanner.position)))
      more = try scanner.nextElement()
    }
    return elements
  }

  fileprivate func integer(_ place: DecodingSource.Place) -> Int64? {
    JSONScanner(span).integer(place.start..<place.end)
  }

  func string(_ token: JSONScanner.StringToken) -> String {
    JSONScanner(span).text(token)
  }

  /// Returns whether the bytes of a token equal `wanted`.
  @inline(__always)
  func bytes(_ token: JSONScanner.StringToken, are wanted: Span<UInt8>) -> Bool {
    guard token.end - token.start == wanted.count else { return false }
    let span = span
    for i in 0..<wanted.count where span[token.start + i] != wanted[i] { return false }
    return true
  }
}

/// An index of the members of one object.
///
/// It records which members were read.
final class ObjectIndex {
  struct Member {
    var name: JSONScanner.StringToken
    var place: DecodingSource.Place
    var isUsed = false
  }

  /// The text, which owns this index.
  ///
  /// Unowned and unsafe because reference counting would take half of each member lookup.
  unowned(unsafe) let source: DecodingSource

  /// The offset of the object in the text, in bytes.
  private(set) var start = -1

  private(set) var members: [Member] = []
  private(set) var path: [any CodingKey] = []

  /// Member names by position, if the text is an array to decode as an object.
  private var names: [String]?

  /// The index at which the next search begins.
  ///
  /// Members are mostly read in order.
  private var hint = 0

  init(source: DecodingSource) {
    unsafe self.source = source
  }

  private func reset(_ start: Int, _ path: [any CodingKey], names: [String]?) {
    self.start = start
    self.path = path
    self.names = names
    members.removeAll(keepingCapacity: true)
    hint = 0
  }

  func load(membersOf text: borrowing ByteBuffer, at start: Int, path: [any CodingKey]) throws {
    reset(start, path, names: nil)
    try text.scanned(from: start) { scanner throws(JSONFault) in
      var more = try scanner.enterObject()
      while more {
        let name = try scanner.key()
        members.append(Member(name: name, place: try DecodingSource.Place(passing: &scanner)))
        more = try scanner.nextMember()
      }
    }
    if let twice = duplicate(text) {
      throw JSONDecodingError(
        at: path + [Key(stringValue: twice)], expected: "each member once", got: "a duplicate")
    }
  }

  func load(
    elementsOf text: borrowing ByteBuffer, named names: [String], at start: Int,
    path: [any CodingKey]
  ) throws {
    reset(start, path, names: names)
    try text.scanned(from: start) { scanner throws(JSONFault) in
      var more = try scanner.enterArray()
      while more {
        let name = JSONScanner.StringToken(start: 0, end: 0, isEscaped: false)
        members.append(Member(name: name, place: try DecodingSource.Place(passing: &scanner)))
        more = try scanner.nextElement()
      }
    }
    guard members.count <= names.count else {
      throw JSONDecodingError(
        at: path + [Key(intValue: names.count)],
        expected: "at most \(names.count) parameters", got: "more")
    }
  }

  /// Returns the place of a member and marks it as read, or returns `nil` if there is none.
  func find(_ name: String) -> DecodingSource.Place? {
    for _ in members.indices {
      if hint >= members.count { hint = 0 }
      let i = hint
      hint += 1
      if isMember(i, named: name) {
        members[i].isUsed = true
        return members[i].place
      }
    }
    return nil
  }

  private func isMember(_ i: Int, named name: String) -> Bool {
    if let names { return names[i] == name }
    let token = members[i].name
    if token.isEscaped { return unsafe source.bytes.string(token) == name }
    return unsafe source.bytes.bytes(token, are: name.utf8.span)
  }

  func name(_ i: Int) -> String {
    unsafe names?[i] ?? source.bytes.string(members[i].name)
  }

  /// Returns a member name that occurs twice, or `nil` if all are unique.
  private func duplicate(_ text: borrowing ByteBuffer) -> String? {
    guard members.count > 1 else { return nil }
    if members.count <= 8, !members.contains(where: \.name.isEscaped) {
      let span = text.span
      for i in 1..<members.count {
        let name = members[i].name
        for k in 0..<i
        where text.bytes(members[k].name, are: span.extracting(name.start..<name.end)) {
          return text.string(name)
        }
      }
      return nil
    }
    var seen: Set<String> = []
    for member in members {
      let name = text.string(member.name)
      guard seen.insert(name).inserted else { return name }
    }
    return nil
  }

  func checkUnknownMembers() throws(JSONDecodingError) {
    for i in members.indices where !members[i].isUsed {
      throw JSONDecodingError(
        at: path + [Key(stringValue: name(i))], expected: "no such member", got: "one")
    }
  }
}

/// A coding key with any name or index.
struct Key: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = String(intValue)
    self.intValue = intValue
  }
}
