/// The release that these sources make: one number for the daemon, the command line and the client.
public enum Release {
  /// As `binderd --version`, `bindctl --version` and `hello` show it.
  public static let version = "0.2.0"

  /// The date of the manual pages, as mdoc(7) writes it.
  public static let date = "November 23, 2026"
}
