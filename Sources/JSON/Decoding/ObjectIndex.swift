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
