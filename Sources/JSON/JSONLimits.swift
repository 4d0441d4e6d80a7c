/// How large a JSON text may be in the directions that cost stack, memory or time.
public enum JSONLimits {
  /// Arrays and objects inside each other.
  public static let depth = 64

  /// Members of one object.
  public static let members = 4096

  /// Digits of one number, its exponent included.
  public static let digits = 64
}
