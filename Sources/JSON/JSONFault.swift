/// An error in a JSON text, with its offset.
public struct JSONFault: Error, Equatable, Sendable {
  /// The rules of RFC 8259 and the limits that a text can break.
  public enum Reason: String, Sendable {
    case unexpectedEnd = "the text ends too early"
    case unexpectedByte = "unexpected character"
    case expectedValue = "a value is expected"
    case expectedKey = "a member name in quotes is expected"
    case expectedColon = "':' is expected"
    case expectedCommaOrBrace = "',' or '}' is expected"
    case expectedCommaOrBracket = "',' or ']' is expected"
    case trailingComma = "trailing comma"
    case trailingBytes = "characters after the end of the value"
    case controlCharacter = "raw control character in a string"
    case badEscape = "unknown escape"
    case loneSurrogate = "lone surrogate"
    case badUTF8 = "not UTF-8"
    case byteOrderMark = "byte order mark"
    case badNumber = "malformed number"
    case numberOverflow = "number overflows a double"
    case tooManyDigits = "number of more than 1024 digits"
    case tooDeep = "nested more than 64 deep"
    case tooManyMembers = "more than 4096 members in one object"
  }

  /// The offset of the first offending byte, counted from 0.
  public let offset: Int

  /// The broken rule.
  public let reason: Reason

  /// Creates a fault at an offset.
  public init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }
}

extension JSONFault: CustomStringConvertible {
  /// A one-sentence message for people.
  public var description: String { "\(reason.rawValue) at byte \(offset)" }
}

/// Limits on a JSON text that bound the use of stack, memory and time.
public enum JSONLimits {
  /// The most nested arrays and objects.
  public static let depth = 64

  /// The most arrays and objects that may enclose a value when it is sent to a client.
  ///
  /// Values from clients may nest that much less than ``depth``.
  public static let surroundings = 10

  /// The most members of one object in an untrusted text.
  ///
  /// Each member needs an entry in a table of names.
  ///
  /// Use ``anyMembers`` where the length of the text already bounds the work, for example for
  /// replies from the daemon or for files that an administrator imports.
  public static let members = 4096

  /// No limit on members.
  public static let anyMembers = Int.max

  /// The most digits of one number, including its exponent.
  public static let digits = 1024

  /// The most digits of a sum.
  ///
  /// A longer sum is not computed.
  public static let sumDigits = 64
}
