internal import Journal

/// Limits on the size of the services' state.
///
/// A stream with state is charged to the user who last made it larger. The charge is its state, plus
/// its name and 256 bytes of overhead.
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
}

extension StateQuota {
  /// The warning threshold: four fifths of the quotas.
  private var mark: StateQuota { StateQuota(total: total / 5 * 4, ofUser: ofUser / 5 * 4) }

  /// Returns whether charges are above a warning threshold, for a user with a quota.
  func isNear(_ now: StateUsage.Charges) -> Bool {
    now.total > total / 5 * 4 || now.user > ofUser / 5 * 4
  }

  /// Checks the growth by a command.
  ///
  /// - Parameter user: The user who ran it; `nil` for one without a quota.
  /// - Throws: ``Refusal`` if the state has grown beyond a quota; one that shrinks is accepted.
  func check(
    _ now: StateUsage.Charges, after before: StateUsage.Charges, of user: UInt32?
  ) throws(Refusal) {
    if now.total > max(before.total, total) { throw .full(.total, max: total) }
    if user != nil, now.user > max(before.user, ofUser) { throw .full(.ofUser, max: ofUser) }
  }

  /// Calls `body` with each quota whose warning threshold a command has crossed.
  ///
  /// - Parameter user: As in ``check(_:after:of:)``.
  func forEachCrossing(
    from before: StateUsage.Charges, to now: StateUsage.Charges, of user: UInt32?,
    _ body: (StateFilling) -> Void
  ) {
    let mark = mark
    if before.total <= mark.total, mark.total < now.total {
      body(StateFilling(user: nil, bytes: now.total, max: total))
    }
    if let user, before.user <= mark.ofUser, mark.ofUser < now.user {
      body(StateFilling(user: user, bytes: now.user, max: ofUser))
    }
  }

  /// Returns the quotas whose warning threshold is crossed.
  ///
  /// - Parameters:
  ///   - owners: The users without a quota.
  ///   - ofUser: Returns the quota of a user.
  func fillings(
    of usage: StateUsage, without owners: Set<UInt32>, _ ofUser: (UInt32) -> Int
  ) -> [StateFilling] {
    let all =
      usage.total > mark.total ? [StateFilling(user: nil, bytes: usage.total, max: total)] : []
    let users = usage.users.filter { !owners.contains($0.user) }
      .map { StateFilling(user: $0.user, bytes: $0.bytes, max: ofUser($0.user)) }
    return all + users.filter { $0.bytes > $0.max / 5 * 4 }
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
