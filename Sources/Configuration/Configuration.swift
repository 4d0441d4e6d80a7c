package import Model
package import Wire

/// The settings of the configuration file.
///
/// A setting that the file omits is `nil` or has its default.
package struct Configuration: Equatable, Sendable {
  package var socket: String?

  /// The permissions of the socket file.
  ///
  /// `nil` means the default of ``socketAccess(user:_:)``.
  package var socketMode: UInt32?
  package var journal: JournalSetting?
  package var cluster = ClusterSettings()
  package var durability: Durability?

  /// The directory of the `*.bind` files.
  package var bindDirectory: String?
  package var limits = Limits()

  /// The retention rules, in file order.
  ///
  /// For each stream, the first rule that matches applies.
  package var retention: [Retention] = []
  package var web = WebSettings()
  package var feeds = FeedSchedule()
  package var slowLog = SlowLogSettings()
  package var roles: Roles

  /// Possible mistakes that are not errors, for example an unknown user.
  package var warnings: [ConfigurationFault] = []

  /// Creates the default configuration, used when there is no file.
  package init(_ accounts: Accounts) {
    roles = .standard(accounts)
  }

  /// Parses the text of a configuration file.
  ///
  /// - Parameters:
  ///   - file: The file name, for error messages.
  ///   - accounts: Resolves user and group names.
  /// - Throws: All errors in the file, in file order.
  package init(
    parsing bytes: [UInt8], file: String, _ accounts: Accounts
  ) throws(ConfigurationFaults) {
    self.init(accounts)
    try ConfigurationParser.parse(bytes, file: file, accounts, into: &self)
  }

  /// Returns the permissions and the group of the socket file that a daemon creates.
  ///
  /// By default, only the daemon's user can connect. If the daemon runs as root, members of the
  /// group `binder` can connect too. The file can override the permissions.
  ///
  /// - Parameter user: The user that the daemon runs as.
  package func socketAccess(
    user: UInt32, _ accounts: Accounts
  ) -> (mode: UInt32, group: UInt32?) {
    if let socketMode { return (socketMode, nil) }
    guard user == 0, let group = accounts.group("binder") else { return (0o600, nil) }
    return (0o660, group)
  }

  /// Returns the names of changed settings that take effect only after a restart.
  package func needsRestart(for new: Configuration) -> [String] {
    var names: [String] = []
    if socket != new.socket { names.append("socket") }
    if socketMode != new.socketMode { names.append("socket_mode") }
    if journal != new.journal { names.append("journal") }
    if cluster != new.cluster { names.append("cluster") }
    if durability != new.durability { names.append("durability") }
    return names
  }

  /// Returns the names of changed settings that a running daemon applies.
  package func changes(in new: Configuration) -> [String] {
    var names: [String] = []
    if limits != new.limits { names.append("limits") }
    if retention != new.retention { names.append("retention") }
    if web != new.web { names.append("web") }
    if feeds != new.feeds { names.append("feeds") }
    if slowLog != new.slowLog { names.append("slow_log") }
    if roles.entries != new.roles.entries { names.append("roles") }
    if roles.gateways != new.roles.gateways { names.append("gateways") }
    return names
  }
}
