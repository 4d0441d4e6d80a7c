/// A parsed JSON value.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Parses a value.
  ///
  /// - Parameter maxMembers: The most members of one object; see ``JSONLimits/anyMembers``.
  /// - Throws: ``JSONFault``.
  public init(
    parsing bytes: Span<UInt8>, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    var scanner = JSONScanner(bytes, maxMembers: maxMembers)
    _ = try scanner.value()
    try scanner.end()
    self.init(scanned: bytes)
  }

  /// Parses a value from a string.
  ///
  /// - Parameter maxMembers: The most members of one object; see ``JSONLimits/anyMembers``.
  /// - Throws: ``JSONFault``.
  public init(
    parsing text: String, maxMembers: Int = JSONLimits.members
  ) throws(JSONFault) {
    try self.init(parsing: text.utf8.span, maxMembers: maxMembers)
  }

  /// Creates the value of a scanned text.
  init(scanned bytes: Span<UInt8>) {
    var scanner = JSONScanner(trusted: bytes)
    guard let value = try? Self.read(&scanner) else {
      preconditionFailure("a text that was scanned does not scan")
    }
    self = value
  }

  /// Reads one value recursively.
  ///
  /// The text was scanned before, so its depth is limited.
  static func read(_ scanner: inout JSONScanner) throws(JSONFault) -> JSONValue {
    let kind = try scanner.kind()
    let start = scanner.position
    switch kind {
    case .null:
      _ = try scanner.value()
      return .null
    case .bool:
      _ = try scanner.value()
      return .bool(scanner.position - start == 4)
    case .number:
      try scanner.number()
      let text = String(validUTF8: scanner.bytes.extracting(start..<scanner.position))
      return .number(JSONNumber(scanned: text))
    case .string:
      return .string(scanner.text(try scanner.string()))
    case .array:
      var elements: [JSONValue] = []
      var more = try scanner.enterArray()
      while more {
        elements.append(try read(&scanner))
        more = try scanner.nextElement()
      }
      return .array(elements)
    case .object:
      var object = JSONObject()
      var more = try scanner.enterObject()
      while more {
        let key = scanner.text(try scanner.key())
        object[key] = try read(&scanner)
        more = try scanner.nextMember()
      }
      return .object(object)
    }
  }

  /// Appends the value as compact text.
  public func write(to buffer: inout ByteBuffer) {
    switch self {
    case .null: buffer.append("null")
    case .bool(let bool): buffer.append(bool ? "true" : "false")
    case .number(let number): buffer.append(number.text)
    case .string(let string): buffer.append(quoted: string)
    case .array(let elements):
      buffer.append(UInt8(ascii: "["))
      for i in elements.indices {
        if i > 0 { buffer.append(UInt8(ascii: ",")) }
        elements[i].write(to: &buffer)
      }
      buffer.append(UInt8(ascii: "]"))
    case .object(let object):
      buffer.append(UInt8(ascii: "{"))
      for (i, member) in object.members.enumerated() {
        if i > 0 { buffer.append(UInt8(ascii: ",")) }
        buffer.append(quoted: member.name)
        buffer.append(UInt8(ascii: ":"))
        member.value.write(to: &buffer)
      }
      buffer.append(UInt8(ascii: "}"))
    }
  }

  /// The value as compact text.
  public var text: JSONText {
    var buffer = ByteBuffer()
    write(to: &buffer)
    return JSONText(trusted: buffer.string)
  }
}

/// The members of a JSON object, in the order in which they were written.
///
/// If a name is set twice, the last value counts, at the position of the first.
public struct JSONObject: Sendable {
  /// One member.
  public struct Member: Hashable, Sendable {
    /// The member's name.
    public let name: String
    /// The member's value.
    public var value: JSONValue
  }

  /// The members in order.
  ///
  /// Names are unique.
  public private(set) var members: [Member] = []

  /// Member indexes by name, if there are too many members to search and they are not in the order of
  /// their names.
  private var places: [ExactText: Int]?

  private static let searchable = 16

  /// Creates an empty object.
  public init() {}

  /// Makes room for so many members, so that they are not moved while they are added.
  public mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// The value of a member; `nil` if there is none.
  ///
  /// Setting `nil` removes the member.
  ///
  /// - Complexity: O(1) to read and to add, O(*n*) to remove.
  public subscript(name: String) -> JSONValue? {
    get { place(of: name).map { members[$0].value } }
    set {
      switch (place(of: name), newValue) {
      case (let place?, let value?):
        members[place].value = value
      case (let place?, nil):
        members.remove(at: place)
        if places != nil { index() }
      case (nil, let value?):
        let isInOrder = isInOrder(before: name)
        members.append(Member(name: name, value: value))
        if places != nil {
          places?[ExactText(name)] = members.count - 1
        } else if !isInOrder {
          index()
        }
      case (nil, nil): break
      }
    }
  }

  private func place(of name: String) -> Int? {
    guard members.count > Self.searchable else {
      return members.firstIndex { $0.name.hasSameBytes(as: name) }
    }
    if let places { return places[ExactText(name)] }
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if members[middle].name.comes(before: name) { low = middle + 1 } else { high = middle }
    }
    return low < members.count && members[low].name.hasSameBytes(as: name) ? low : nil
  }

  /// Whether the members are in the order of their names with a new last one, or few.
  private func isInOrder(before name: String) -> Bool {
    if members.count < Self.searchable { return true }
    guard let last = members.last, last.name.comes(before: name) else { return false }
    return members.count > Self.searchable
      || zip(members, members.dropFirst()).allSatisfy { $0.name.comes(before: $1.name) }
  }

  private mutating func index() {
    guard members.count > Self.searchable else { return places = nil }
    var places: [ExactText: Int] = [:]
    for (place, member) in members.enumerated() { places[ExactText(member.name)] = place }
    self.places = places
  }
}

extension String {
  /// Returns whether the text comes before another one; the bytes order equivalent ones.
  fileprivate func comes(before other: String) -> Bool {
    if self < other { return true }
    guard self == other, !hasSameBytes(as: other) else { return false }
    return utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension JSONValue: Hashable {
  /// Returns whether the values are equal: numbers by value, strings and names by their bytes.
  public static func == (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Hashes the value.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let bool): hasher.combine(bool)
    case .number(let number): hasher.combine(number)
    case .string(let string): hasher.combine(string)
    case .array(let elements): hasher.combine(elements)
    case .object(let object): hasher.combine(object)
    }
  }
}

extension JSONObject: Hashable {
  /// Returns whether both have the same members, in any order.
  public static func == (left: Self, right: Self) -> Bool {
    left.members.count == right.members.count
      && left.members.allSatisfy { right[$0.name] == $0.value }
  }

  /// Hashes the members regardless of order.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(Set(members))
  }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// Creates an object with members in the order of the literal.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    for (name, value) in elements { self[name] = value }
  }
}
