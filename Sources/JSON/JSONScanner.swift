/// Walks over a JSON text without copying it, strictly by RFC 8259.
///
/// Every byte that the scanner has passed is known to be valid: UTF-8, escapes, surrogate pairs,
/// the grammar of numbers, nesting (``JSONLimits``). It recurses nowhere, so that the depth of a
/// text costs no stack. A scanner whose method has thrown is not used again.
public struct JSONScanner: ~Escapable {
  /// The kind of a value, known from its first byte.
  public enum Kind: Sendable {
    case null, bool, number, string, array, object
  }

  /// A string in the text: the offsets of what stands between its quotes.
  public struct StringToken: Equatable, Sendable {
    /// The first byte after the opening quote.
    public let start: Int

    /// The closing quote.
    public let end: Int

    /// Whether the bytes hold escapes, so that they are not yet the string itself.
    public let isEscaped: Bool

    @inlinable
    init(start: Int, end: Int, isEscaped: Bool) {
      self.start = start
      self.end = end
      self.isEscaped = isEscaped
    }
  }

  @usableFromInline let bytes: Span<UInt8>

  /// The next byte to be read.
  public internal(set) var position: Int

  /// How many members an object may have.
  @usableFromInline let maxMembers: Int

  /// Whether only the grammar is checked: no limits, and a surrogate may stand alone.
  let isLenient: Bool

  /// Whether the text was accepted before: numbers that are refused today are still read.
  let isKept: Bool

  /// A scanner at the start of a text.
  ///
  /// - Parameter maxMembers: How many members an object may have, see ``JSONLimits/anyMembers``.
  @_lifetime(copy bytes)
  public init(
    _ bytes: Span<UInt8>, at position: Int = 0, maxMembers: Int = JSONLimits.members
  ) {
    self.bytes = bytes
    self.position = position
    self.maxMembers = maxMembers
    (isLenient, isKept) = (false, false)
  }

  /// A scanner that checks the grammar of RFC 8259 and no limits: to find one's way in a text that
  /// breaks one.
  ///
  /// A string that it has passed may hold half of a surrogate pair: it is not taken apart.
  @_lifetime(copy bytes)
  public init(lenient bytes: Span<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
    maxMembers = JSONLimits.anyMembers
    (isLenient, isKept) = (true, false)
  }

  /// A scanner over a text that another one has accepted before, by whatever limits.
  @_lifetime(copy bytes)
  init(kept bytes: Span<UInt8>, at position: Int = 0) {
    self.bytes = bytes
    self.position = position
    maxMembers = JSONLimits.anyMembers
    (isLenient, isKept) = (false, true)
  }

  // MARK: Tokens

  /// Passes spaces, tabs, carriage returns and line feeds.
  @inline(__always)
  public mutating func skipWhitespace() {
    while position < bytes.count {
      let byte = bytes[position]
      if byte > 0x20 { return }
      guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return }
      position &+= 1
    }
  }

  /// The next byte that is not white space, not passed; `nil` at the end.
  @inline(__always)
  public mutating func peek() -> UInt8? {
    skipWhitespace()
    return position < bytes.count ? bytes[position] : nil
  }

  /// Passes white space and then `byte`, if it stands there.
  @inline(__always)
  public mutating func take(_ byte: UInt8) -> Bool {
    skipWhitespace()
    guard position < bytes.count, bytes[position] == byte else { return false }
    position &+= 1
    return true
  }

  /// The kind of the value that comes next.
  ///
  /// - Throws: ``JSONFault`` when none can begin there.
  public mutating func kind() throws(JSONFault) -> Kind {
    guard let byte = peek() else { throw fault(.unexpectedEnd) }
    switch byte {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string
    case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
    case UInt8(ascii: "n"): return .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
    default: throw fault(offendingByte())
    }
  }

  /// Passes white space to the end of the text.
  public mutating func end() throws(JSONFault) {
    if peek() != nil { throw fault(.trailingBytes) }
  }

  // MARK: Objects and arrays, member by member

  /// Passes `{` and says whether a member follows; an empty object is passed whole.
  public mutating func enterObject() throws(JSONFault) -> Bool {
    guard take(UInt8(ascii: "{")) else { throw fault(.expectedValue) }
    return !take(UInt8(ascii: "}"))
  }

  /// Passes a member's name and its colon.
  public mutating func key() throws(JSONFault) -> StringToken {
    guard let byte = peek() else { throw fault(.unexpectedEnd) }
    guard byte == UInt8(ascii: "\"") else {
      throw fault(byte == UInt8(ascii: "}") ? .trailingComma : .expectedKey)
    }
    let token = try string()
    guard take(UInt8(ascii: ":")) else {
      throw fault(position < bytes.count ? .expectedColon : .unexpectedEnd)
    }
    return token
  }

  /// Passes `,` or `}` and says whether another member follows.
  public mutating func nextMember() throws(JSONFault) -> Bool {
    if take(UInt8(ascii: ",")) { return true }
    if take(UInt8(ascii: "}")) { return false }
    throw fault(position < bytes.count ? .expectedCommaOrBrace : .unexpectedEnd)
  }

  /// Passes `[` and says whether an element follows; an empty array is passed whole.
  public mutating func enterArray() throws(JSONFault) -> Bool {
    guard take(UInt8(ascii: "[")) else { throw fault(.expectedValue) }
    return !take(UInt8(ascii: "]"))
  }

  /// Passes `,` or `]` and says whether another element follows.
  public mutating func nextElement() throws(JSONFault) -> Bool {
    if take(UInt8(ascii: ",")) {
      if peek() == UInt8(ascii: "]") { throw fault(.trailingComma) }
      return true
    }
    if take(UInt8(ascii: "]")) { return false }
    throw fault(position < bytes.count ? .expectedCommaOrBracket : .unexpectedEnd)
  }

  // MARK: Whole values

  /// Passes one value of any kind.
  ///
  /// - Parameter depth: How many arrays and objects enclose it already.
  /// - Returns: Its kind; it ends at ``position``.
  public mutating func value(depth: Int = 0) throws(JSONFault) -> Kind {
    let kind = try kind()
    switch kind {
    case .string: _ = try string()
    case .number: try number()
    case .null: try literal("null")
    case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
    case .array, .object: isLenient ? try deepContainer() : try container(depth: depth)
    }
    return kind
  }

  /// Passes an array or object and all that is in it.
  ///
  /// As long as all objects together have no more members than one may have, only their sum is
  /// counted; a text that goes over it is scanned again with a count for each.
  private mutating func container(depth outer: Int, countsEach: Bool = false) throws(JSONFault) {
    let start = position
    /// One bit for each open container, the innermost lowest: 1 is an object.
    var isObject: UInt64 = 0
    var depth = 0
    var members = 0
    var counts: [Int] = []
    while true {
      // Here a value stands before us, its white space passed by `kind`.
      switch try kind() {
      case .object:
        guard outer + depth < JSONLimits.depth else { throw fault(.tooDeep) }
        if try enterObject() {
          isObject = isObject << 1 | 1
          depth &+= 1
          if countsEach {
            counts.append(members)
            members = 0
          }
          members &+= 1
          _ = try key()
          continue
        }
      case .array:
        guard outer + depth < JSONLimits.depth else { throw fault(.tooDeep) }
        if try enterArray() {
          isObject <<= 1
          depth &+= 1
          continue
        }
      case .string: _ = try string()
      case .number: try number()
      case .null: try literal("null")
      case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
      }
      // Here a value has been passed: go on in the innermost open container, or leave it.
      while true {
        guard depth > 0 else { return }
        if isObject & 1 == 1 {
          if try nextMember() {
            members &+= 1
            if members > maxMembers {
              guard !countsEach else { throw fault(.tooManyMembers) }
              position = start
              return try container(depth: outer, countsEach: true)
            }
            _ = try key()
            break
          }
          if countsEach { members = counts.removeLast() }
        } else if try nextElement() {
          break
        }
        isObject >>= 1
        depth &-= 1
      }
    }
  }

  /// Passes an array or object of any depth and size.
  private mutating func deepContainer() throws(JSONFault) {
    /// Whether each open container, the innermost last, is an object.
    var isObject: [Bool] = []
    while true {
      switch try kind() {
      case .object:
        if try enterObject() {
          isObject.append(true)
          _ = try key()
          continue
        }
      case .array:
        if try enterArray() {
          isObject.append(false)
          continue
        }
      case .string: _ = try string()
      case .number: try number()
      case .null: try literal("null")
      case .bool: try literal(bytes[position] == UInt8(ascii: "t") ? "true" : "false")
      }
      while true {
        guard let isInObject = isObject.last else { return }
        if isInObject {
          if try nextMember() {
            _ = try key()
            break
          }
        } else if try nextElement() {
          break
        }
        isObject.removeLast()
      }
    }
  }

  @inline(__always)
  private mutating func literal(_ text: StaticString) throws(JSONFault) {
    for i in 0..<text.utf8CodeUnitCount {
      guard position < bytes.count else { throw fault(.unexpectedEnd) }
      guard unsafe bytes[position] == text.utf8Start[i] else { throw fault(.unexpectedByte) }
      position += 1
    }
  }

  // MARK: Faults

  @inline(never)
  func fault(_ reason: JSONFault.Reason) -> JSONFault {
    JSONFault(offset: position, reason: reason)
  }

  /// Why no value can begin at ``position``.
  private func offendingByte() -> JSONFault.Reason {
    switch bytes[position] {
    case 0xEF where position == 0: .byteOrderMark
    case 0x80...: .badUTF8
    case UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: ","): .expectedValue
    default: .unexpectedByte
    }
  }
}
