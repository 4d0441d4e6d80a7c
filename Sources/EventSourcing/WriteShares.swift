internal import Model
package import Signals
package import Wire

/// The share of the journal that each user may write: a rate of bytes with a burst, and nothing
/// while the disk has only the room that is reserved for administrators.
///
/// The rate is a token bucket for each user. A user who has written the whole burst waits until
/// the rate has made room again. All figures are integers, because each command is charged.
package final class WriteShares {
  /// The bytes that a user may write in a second on average, and at once.
  package var bytesPerSecond = Int.max
  package var burst = Int.max

  /// The limits of roles, in place of the common ones.
  package let roleLimits = RoleLimits()

  /// Users without a share (administrators).
  package var owners: Set<UInt32> = [0] {
    didSet { for i in writers.indices { writers[i].isExempt = owners.contains(writers[i].user) } }
  }

  /// The limits on the size of the state.
  var quota = StateQuota()

  /// Returns the milliseconds of a monotonic clock.
  package var now: () -> UInt64 = { 0 }

  /// The room on the disk: with only the reserve left, only administrators may write; with little
  /// more, those who have written most may not.
  package internal(set) var disk = DiskWatch.Level.ample

  /// Emits a user who has written the whole burst, and whose commands wait now.
  package let spent = PassthroughSubject<UInt32, Never>()

  /// The bytes of the events of all users since the start.
  package private(set) var total: UInt64 = 0

  private struct Writer {
    let user: UInt32
    var isExempt: Bool

    /// The bytes in a second and at once; `nil` if the role of the user sets none.
    var own: (bytesPerSecond: Int, burst: Int)?

    /// The bytes of the events since the start.
    var written: UInt64 = 0

    /// The bytes of the burst that are used, as of a time in milliseconds.
    var used = 0
    var at: UInt64
  }

  private var writers: ContiguousArray<Writer> = []
  private var places: [UInt32: Int] = [:]

  /// The place of the user who has written last.
  private var last = 0

  private func place(of user: UInt32) -> Int {
    if last < writers.count, writers[last].user == user { return last }
    if let place = places[user] {
      last = place
    } else {
      last = writers.count
      places[user] = last
      writers.append(
        Writer(user: user, isExempt: owners.contains(user), own: ownLimits(of: user), at: now()))
    }
    return last
  }

  /// Applies changed limits, of all users and of roles.
  package func refreshLimits() {
    for i in writers.indices { writers[i].own = ownLimits(of: writers[i].user) }
  }

  private func ownLimits(of user: UInt32) -> (bytesPerSecond: Int, burst: Int)? {
    guard roleLimits.ofUser != nil else { return nil }
    return (
      roleLimits.limit(.journalRatePerUser, of: user, common: bytesPerSecond),
      roleLimits.limit(.journalBurstPerUser, of: user, common: burst)
    )
  }

  /// Returns the bytes that the user at a place may write at once.
  private func burst(at place: Int) -> Int { writers[place].own?.burst ?? burst }

  private func bytesPerSecond(at place: Int) -> Int {
    writers[place].own?.bytesPerSecond ?? bytesPerSecond
  }

  /// Charges a user for events.
  func charge(_ bytes: Int, to user: UInt32) {
    let place = place(of: user)
    total &+= UInt64(bytes)
    writers[place].written &+= UInt64(bytes)
    guard !writers[place].isExempt else { return }
    refill(place)
    let before = writers[place].used
    writers[place].used = before &+ bytes
    let burst = burst(at: place)
    if before < burst, before &+ bytes >= burst { spent.send(user) }
  }

  /// Returns whether a user has written the whole burst.
  package func isSpent(_ user: UInt32) -> Bool {
    let place = place(of: user)
    let burst = burst(at: place)
    guard !writers[place].isExempt, writers[place].used >= burst else { return false }
    refill(place)
    return writers[place].used >= burst
  }

  /// Returns the milliseconds until a user who has written the whole burst may write again.
  package func wait(of user: UInt32) -> UInt64 {
    let place = place(of: user)
    let excess = writers[place].used - burst(at: place) + 1
    guard excess > 0 else { return 0 }
    return UInt64((Double(excess) / Double(bytesPerSecond(at: place)) * 1000).rounded(.up))
  }

  private func refill(_ place: Int) {
    let now = now()
    guard writers[place].used > 0, now > writers[place].at else { return writers[place].at = now }
    let room = Double(now - writers[place].at) / 1000 * Double(bytesPerSecond(at: place))
    writers[place].at = now
    writers[place].used -= room < Double(writers[place].used) ? Int(room) : writers[place].used
  }

  /// Whether a user has written more than half of all events since the start, and more than the burst.
  ///
  /// On a disk that becomes full these are refused first, so that others can still write.
  func hasWrittenMost(_ user: UInt32) -> Bool {
    let place = place(of: user)
    let written = writers[place].written
    return !writers[place].isExempt && written > UInt64(burst(at: place)) && written > total / 2
  }

  /// Returns the bytes of the events of a user since the start.
  package func written(by user: UInt32) -> UInt64 { places[user].map { writers[$0].written } ?? 0 }

  /// The users who have written since the start.
  package var users: [UInt32] { writers.map(\.user) }
}

extension JournalError {
  /// The disk has only the room that is reserved for administrators.
  static let diskReserved = JournalError.readOnly(reason: "disk_reserve", outcome: .none)

  /// The user has used up the rate of the journal; only writes of bindings are refused for it.
  static let rateSpent = JournalError.readOnly(reason: "journal_rate_user", outcome: .none)
}
