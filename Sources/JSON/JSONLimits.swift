/// How large a JSON text may be in the directions that cost stack, memory or time.
public enum JSONLimits {
  /// Arrays and objects inside each other.
  public static let depth = 64

  /// How many of them may stand around a value where it is shown: what somebody gives us nests so
  /// much less.
  public static let surroundings = 10

  /// Members of one object of a text that a stranger has written: what costs a table of names.
  ///
  /// Where the length of the text bounds the work already (what a client asked its daemon for, what an
  /// administrator imports), a reader is given ``anyMembers`` instead.
  public static let members = 4096

  /// As many members as the text has room for.
  public static let anyMembers = Int.max

  /// Digits of one number, its exponent included.
  public static let digits = 1024

  /// Digits of a sum: what needs more is not computed.
  public static let sumDigits = 64
}
