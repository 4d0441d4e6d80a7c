package import JSON

/// The limits that the roles of users set in place of the common ones.
package final class RoleLimits {
  /// Returns the limits that a user's role sets; `nil` while no role sets any.
  package var ofUser: ((UInt32) -> [LimitName: Int])? {
    didSet { (known, areSet) = ([:], ofUser != nil) }
  }

  /// Whether some role sets limits.
  package private(set) var areSet = false

  /// The answers of ``ofUser``, which reads the groups of the user.
  private var known: [UInt32: [LimitName: Int]] = [:]

  /// Creates limits of no role.
  package init() {}

  /// Returns a limit for a user: the one of the role, or else the common one.
  package func limit(_ name: LimitName, of uid: UInt32, common: Int) -> Int {
    limits(of: uid)[name] ?? common
  }

  /// Returns all limits for a user; `nil` if the role sets none.
  package func limits(of uid: UInt32, common: Limits) -> Limits? {
    let own = limits(of: uid)
    guard !own.isEmpty else { return nil }
    var limits = common
    for (name, value) in own { limits[name] = value }
    return limits
  }

  /// Returns the limits that a user's role sets.
  package func limits(of uid: UInt32) -> [LimitName: Int] {
    guard let ofUser else { return [:] }
    if let limits = known[uid] { return limits }
    let limits = ofUser(uid)
    known[uid] = limits
    return limits
  }
}

extension JSONObject {
  /// Creates an object with the limits by name.
  package init(_ limits: [LimitName: Int]) {
    self.init()
    for (name, value) in limits.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
      self[name.rawValue] = .number(JSONNumber(value))
    }
  }
}

extension LimitName {
  /// The limits that a role can set: those of one user, and the counts of one connection.
  package static let ofRoles: [LimitName] = [
    .bufferedPerUser, .memoryPerUser, .statePerUser, .journalRatePerUser, .journalBurstPerUser,
    .connectionsPerUser, .leasesPerUser, .locksPerUser, .providersPerUser, .queuedPerUser,
    .subscriptions, .views, .bindings, .filterCost, .inFlight, .batch, .atomic,
  ]
}
