/// How many bytes the services may keep.
///
/// A stream is charged to the user who has recorded its last event, with what is kept because of it
/// and what it costs by itself: its name and some 100 bytes, also when nothing else is left of it.
package struct StateQuota: Equatable, Sendable {
  /// Bytes of all users together.
  package var total: Int

  /// Bytes of one user who does not administer the daemon.
  package var ofUser: Int

  /// What a quota holds for.
  package enum Scope: Sendable {
    case total
    case ofUser
  }

  /// No quota, unless said.
  package init(total: Int = .max, ofUser: Int = .max) {
    (self.total, self.ofUser) = (total, ofUser)
  }

  /// Who gets so far is warned: four fifths.
  var mark: StateQuota? {
    total == .max ? nil : StateQuota(total: total / 5 * 4, ofUser: ofUser / 5 * 4)
  }
}

/// A quota that is mostly used up.
package struct StateFilling: Equatable, Sendable {
  /// The user whose it is; `nil` for that of all.
  package let user: UInt32?

  /// Bytes that are kept, and that may be.
  package let bytes: Int
  package let max: Int
}
