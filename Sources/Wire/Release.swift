/// The release that these sources make: one number for the daemon, the command line and the client.
public enum Release {
  /// As `binderd --version`, `bindctl --version` and `hello` show it.
  public static let version = "0.1.0"
}
