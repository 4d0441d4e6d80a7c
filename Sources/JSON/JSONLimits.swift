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
