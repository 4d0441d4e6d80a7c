public import JSON

/// The members of a request's `params`, found by the scan that reads the request.
///
/// Methods whose parameters are few and plain read them from here, without a decoder.
public struct RequestParameters: Sendable {
  /// The offsets of a member within its line.
  struct Member: Equatable {
    /// The name between its quotes; empty for an element of an array.
    var (name, nameEnd): (Int32, Int32) = (0, 0)
    var (value, valueEnd): (Int32, Int32) = (0, 0)
    var kind = JSONScanner.Kind.null

    /// Whether the value is a string with escapes.
    var isEscaped = false

    /// Whether the value is known to have neither white space nor raw control characters.
    var isCompact = false
  }

  /// The most members that are listed.
  static let most = 4
  private(set) var members = InlineArray<4, Member>(repeating: Member())

  /// The number of members besides `_meta`.
  public private(set) var count = 0

  /// The range of the value of `_meta`; `nil` if there is none.
  public internal(set) var options: Range<Int>?

  /// Whether all members are listed.
  ///
  /// `false` if `params` has more than four members besides `_meta`, or elements, two members
  /// `_meta`, or a name with an escape; the parameters must then be decoded.
  public private(set) var isComplete = true

  /// Whether the members are the first parameters of the method, in their usual order, as the elements
  /// of an array are.
  var isInUsualOrder = false

  /// The parameters of a request without `params`.
  init() {}

  /// Parameters that were not read.
  static let unread: Self = {
    var parameters = RequestParameters()
    parameters.isComplete = false
    return parameters
  }()

  /// Scans an array.
  mutating func readElements(_ scanner: inout JSONScanner) throws(JSONFault) {
    isInUsualOrder = true
    var more = try scanner.enterArray()
    while more {
      let kind = try scanner.kind()
      let start = scanner.position
      let (isEscaped, isPlain) = try Self.readValue(&scanner, kind)
      if count < Self.most {
        append(
          start..<start, start..<scanner.position, kind, isEscaped: isEscaped, isPlain: isPlain)
      } else {
        isComplete = false
      }
      more = try scanner.nextElement()
    }
  }

  /// Scans a value.
  ///
  /// - Returns: What is known of it if it is a string; see ``Member``.
  @inline(__always)
  static func readValue(
    _ scanner: inout JSONScanner, _ kind: JSONScanner.Kind
  ) throws(JSONFault) -> (isEscaped: Bool, isPlain: Bool) {
    guard kind == .string else {
      try scanner.value(kind, depth: JSONLimits.surroundings)
      return (false, false)
    }
    let string = try scanner.string()
    return (string.isEscaped, string.isPlain)
  }

  /// Scans an object.
  mutating func read(_ scanner: inout JSONScanner) throws(JSONFault) {
    var total = 0
    var more = try scanner.enterObject()
    while more {
      total &+= 1
      guard total <= JSONLimits.members else { throw scanner.fault(.tooManyMembers) }
      let name = try scanner.key()
      let kind = try scanner.kind()
      let start = scanner.position
      let (isEscaped, isPlain) = try Self.readValue(&scanner, kind)
      if scanner.token(name, is: "_meta") {
        if options != nil { isComplete = false }
        options = start..<scanner.position
      } else if count < Self.most, !name.isEscaped {
        append(
          name.start..<name.end, start..<scanner.position, kind, isEscaped: isEscaped,
          isPlain: isPlain)
      } else {
        isComplete = false
      }
      more = try scanner.nextMember()
    }
  }

  /// Appends a member by the ranges of its name and its value.
  ///
  /// There must be room for it; see ``most``.
  ///
  /// - Parameter isPlain: See ``JSONScanner/StringToken/isPlain``.
  @inline(__always)
  mutating func append(
    _ name: Range<Int>, _ value: Range<Int>, _ kind: JSONScanner.Kind, isEscaped: Bool,
    isPlain: Bool
  ) {
    members[count] = Member(
      name: Int32(truncatingIfNeeded: name.lowerBound),
      nameEnd: Int32(truncatingIfNeeded: name.upperBound),
      value: Int32(truncatingIfNeeded: value.lowerBound),
      valueEnd: Int32(truncatingIfNeeded: value.upperBound), kind: kind, isEscaped: isEscaped,
      isCompact: isPlain || kind == .number)
    count &+= 1
  }

  /// - Parameter place: The place of the parameter in the usual order.
  @inline(__always)
  private func find(_ name: StaticString, _ place: Int, _ line: Span<UInt8>) -> Member? {
    if isInUsualOrder { return place < count ? members[place] : nil }
    let scanner = JSONScanner(line)
    for i in 0..<count {
      let member = members[i]
      let token = JSONScanner.StringToken(
        start: Int(member.name), end: Int(member.nameEnd), isEscaped: false)
      if scanner.token(token, is: name) { return member }
    }
    return nil
  }

  /// Returns the range of the content of a string without escapes; `nil` for any other member.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  @inline(__always)
  public func plainString(
    _ name: StaticString, at place: Int, in line: Span<UInt8>
  ) -> Range<Int>? {
    guard let member = find(name, place, line), member.kind == .string, !member.isEscaped else {
      return nil
    }
    return Int(member.value) + 1..<Int(member.valueEnd) - 1
  }

  /// Returns a string without escapes; `nil` for any other member.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  @inline(__always)
  public func string(_ name: StaticString, at place: Int, in line: Span<UInt8>) -> String? {
    guard let content = plainString(name, at: place, in: line) else { return nil }
    return String(validUTF8: line.extracting(content))
  }

  /// Returns a number that is written with at most 18 digits; `nil` for any other member.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  public func natural(_ name: StaticString, at place: Int, in line: Span<UInt8>) -> UInt64? {
    guard let member = find(name, place, line), member.kind == .number,
      member.valueEnd - member.value <= 18
    else { return nil }
    var number: UInt64 = 0
    for i in Int(member.value)..<Int(member.valueEnd) {
      let digit = line[i] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      number = number &* 10 &+ UInt64(digit)
    }
    return number
  }

  /// Returns a value of any kind; `nil` if there is no member with this name.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  public func value(named name: String, at place: Int, in line: Span<UInt8>) -> JSONText? {
    if isInUsualOrder { return place < count ? value(of: members[place], in: line) : nil }
    let wanted = name.utf8.span
    search: for i in 0..<count {
      let member = members[i]
      guard Int(member.nameEnd - member.name) == wanted.count else { continue }
      for j in 0..<wanted.count where line[Int(member.name) + j] != wanted[j] { continue search }
      return value(of: member, in: line)
    }
    return nil
  }

  /// Returns the range of a value of any kind; `nil` if there is no member with this name.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  public func place(
    of name: StaticString, at place: Int, in line: Span<UInt8>
  ) -> Range<Int>? {
    find(name, place, line).map { Int($0.value)..<Int($0.valueEnd) }
  }

  /// Returns a value of any kind; `nil` if there is no member with this name.
  ///
  /// - Parameter place: The place of the parameter among those that the method declares.
  @inline(__always)
  public func value(_ name: StaticString, at place: Int, in line: Span<UInt8>) -> JSONText? {
    guard let member = find(name, place, line) else { return nil }
    return value(of: member, in: line)
  }

  /// Returns the ranges of the name and the value of a member, and whether the value is known to be
  /// compact.
  ///
  /// - Parameter place: A number below ``count``.
  public func member(
    at place: Int
  ) -> (name: Range<Int>, value: Range<Int>, isCompact: Bool) {
    let member = members[place]
    return (
      Int(member.name)..<Int(member.nameEnd), Int(member.value)..<Int(member.valueEnd),
      member.isCompact
    )
  }

  @inline(__always)
  private func value(of member: Member, in line: Span<UInt8>) -> JSONText {
    let bytes = line.extracting(Int(member.value)..<Int(member.valueEnd))
    return member.isCompact ? JSONText(trusted: bytes) : JSONText(scanned: bytes)
  }
}
