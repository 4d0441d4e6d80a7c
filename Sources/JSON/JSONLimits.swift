/// How large a JSON text may be in the directions that cost stack, memory or time.
public enum JSONLimits {
  /// Arrays and objects inside each other.
  public static let depth = 64

  /// How many of them may stand around a value where it is shown: what somebody gives us nests so
  /// much less.
  public static let surroundings = 10

  /// Members of one object.
  public static let members = 4096

  /// Digits of one number, its exponent included.
  public static let digits = 64
}
