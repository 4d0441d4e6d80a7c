package import Wire

/// What the configuration file says; what it does not say is `nil` or the default.
package struct Configuration: Equatable, Sendable {
  package var socket: String?

  /// The permissions of the socket file, when the daemon makes it; `nil` for those that fit who may
  /// connect, see ``socketAccess(user:_:)``.
  package var socketMode: UInt32?
  package var journal: String?
  package var durability: Durability?

  /// Where the `*.bind` files are.
  package var bindDirectory: String?
  package var limits = Limits()

  /// In the order of the file: of those that name a stream the first counts.
  package var retention: [Retention] = []
  package var web = WebSettings()
  package var feeds = FeedSettings()
  package var roles: Roles

  /// What is no fault and may be a mistake, such as a user that is not there.
  package var warnings: [ConfigurationFault] = []

  /// The defaults: what holds without a file.
  package init(_ accounts: Accounts) {
    roles = .standard(accounts)
  }

  /// What the text of a file says.
  ///
  /// - Parameters:
  ///   - file: Its name, for faults.
  ///   - accounts: Where the names of users and groups are looked up.
  /// - Throws: All that is wrong with it, in the order of the file.
  package init(
    parsing bytes: [UInt8], file: String, _ accounts: Accounts
  ) throws(ConfigurationFaults) {
    self.init(accounts)
    try ConfigurationParser.parse(bytes, file: file, accounts, into: &self)
  }

  /// The permissions and the group of the socket file that a daemon makes.
  ///
  /// The members of the group `binder` connect to a daemon of root, unless the file says otherwise; to
  /// all others only the user himself does.
  ///
  /// - Parameter user: Who the daemon runs as.
  package func socketAccess(
    user: UInt32, _ accounts: Accounts
  ) -> (mode: UInt32, group: UInt32?) {
    if let socketMode { return (socketMode, nil) }
    guard user == 0, let group = accounts.group("binder") else { return (0o600, nil) }
    return (0o660, group)
  }

  /// What of another configuration cannot be taken over by a daemon that runs.
  package func needsRestart(for new: Configuration) -> [String] {
    var names: [String] = []
    if socket != new.socket { names.append("socket") }
    if socketMode != new.socketMode { names.append("socket_mode") }
    if journal != new.journal { names.append("journal") }
    if durability != new.durability { names.append("durability") }
    return names
  }

  /// What of another configuration a daemon that runs takes over.
  package func changes(in new: Configuration) -> [String] {
    var names: [String] = []
    if limits != new.limits { names.append("limits") }
    if retention != new.retention { names.append("retention") }
    if web != new.web { names.append("web") }
    if feeds != new.feeds { names.append("feeds") }
    if roles != new.roles { names.append("roles") }
    return names
  }
}
