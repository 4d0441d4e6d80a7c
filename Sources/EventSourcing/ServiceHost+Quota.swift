internal import Journal
internal import Model
internal import Signals
internal import Wire

extension ServiceHost {
  /// The current size of the state in bytes.
  package var stateBytes: Int { store.usage.total }

  /// Returns the bytes of state charged to a user.
  package func stateBytes(of user: UInt32) -> Int { store.usage[user: user] }

  /// The users who are charged for state, with its bytes.
  package var stateUsers: [(user: UInt32, bytes: Int)] { store.usage.users }

  /// Returns the charges before a command, for ``checkQuota(since:)``.
  ///
  /// While all users together are below each warning threshold, only the total matters.
  func chargesBefore(_ command: Command) -> StateUsage.Charges {
    let total = appender.chargedTotal
    guard roleLimits.areSet || quota.isNear(StateUsage.Charges(total: total, user: total)) else {
      return StateUsage.Charges(total: total, user: 0)
    }
    return charges(of: command.caller.uid)
  }

  /// Checks the quotas after the running command.
  ///
  /// - Throws: ``Refusal`` if the command has grown the state beyond a quota.
  func checkQuota(since before: StateUsage.Charges) throws(Refusal) {
    guard running.lastAppended != nil else { return }
    let total = appender.chargedTotal
    guard roleLimits.areSet || quota.isNear(StateUsage.Charges(total: total, user: total)) else {
      return
    }
    let now = charges(of: running.user)
    if !roleLimits.areSet, !quota.isNear(now) { return }
    let quota = quota(of: running.user)
    guard quota.isNear(now) else { return }
    // An administrator has no quota of his own.
    let user = owners.contains(running.user) ? nil : running.user
    try quota.check(now, after: before, of: user)
    quota.forEachCrossing(from: before, to: now, of: user) { filling.send($0) }
  }

  /// Checks that a user may write now.
  ///
  /// Commands of clients that write too fast wait before they run, and are not refused here.
  func checkShare(of command: Command) throws(Refusal) {
    let user = command.caller.uid
    if command.origin == .promise || owners.contains(user) { return }
    if shares.disk == .reserved || shares.disk == .low && shares.hasWrittenMost(user) {
      throw .journal(.diskReserved)
    }
    if command.origin == .binding, shares.isSpent(user) { throw .journal(.rateSpent) }
  }

  /// The quotas that are nearly exhausted.
  package var fillings: [StateFilling] {
    quota.fillings(of: store.usage, without: owners) { quota(of: $0).ofUser }
  }

  /// Returns the quotas for a user.
  private func quota(of user: UInt32) -> StateQuota {
    StateQuota(
      total: quota.total,
      ofUser: roleLimits.limit(.statePerUser, of: user, common: quota.ofUser))
  }

  /// Returns the per-user limit if the calling user has reached it.
  ///
  /// The limit is half of the total, so that others have room.
  ///
  /// - Parameters:
  ///   - all: The total limit.
  ///   - count: Returns the current number of a user.
  /// - Returns: The limit, or `nil` if there is room.
  package func exhaustedShare(of all: Int, _ count: (_ uid: UInt32) -> Int) -> Int? {
    guard isPerforming, !owners.contains(running.user) else { return nil }
    return count(running.user) < all / 2 ? nil : all / 2
  }
}
