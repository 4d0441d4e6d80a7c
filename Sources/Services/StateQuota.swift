/// Limits on the size of the services' state.
///
/// A stream is charged to the user who recorded its last event. The charge is its state, plus its
/// name and about 100 bytes of overhead, even if its state is empty.
package struct StateQuota: Equatable, Sendable {
  /// The limit in bytes for all users together.
  package var total: Int

  /// The limit in bytes for one user who is not an administrator.
  package var ofUser: Int

  /// The scope of a quota.
  package enum Scope: Sendable {
    case total
    case ofUser
  }

  /// Creates quotas; unlimited by default.
  package init(total: Int = .max, ofUser: Int = .max) {
    (self.total, self.ofUser) = (total, ofUser)
  }

  /// The warning threshold: four fifths of the quotas; `nil` if there is no total quota.
  var mark: StateQuota? {
    total == .max ? nil : StateQuota(total: total / 5 * 4, ofUser: ofUser / 5 * 4)
  }
}

/// A quota that is nearly exhausted.
package struct StateFilling: Equatable, Sendable {
  /// The user; `nil` for the total quota.
  package let user: UInt32?

  /// The used bytes, and the limit.
  package let bytes: Int
  package let max: Int
}
