internal import Model
internal import Signals
internal import Wire

/// A scheduler that shares one turn of the loop between users, and between the clients of each.
///
/// A client is interrupted between two requests when its slice is over. It continues in the next
/// turn, after other clients of the same user. All clients of a user share one part of each turn,
/// so that many clients get no more time than a single one. Work that commits cause for a user
/// counts as one more client; see ``SlicedWork``.
final class TurnTime {
  /// The nanoseconds that one client may run requests at a time.
  static let slice: UInt64 = 2_000_000

  /// The nanoseconds of one turn for all clients and the work of one user.
  static let share: UInt64 = 4_000_000

  /// The number of quick requests between two clock reads.
  private static let quickRequests = 4

  /// The nanoseconds between two clock reads above which requests do not count as quick.
  private static let quick: UInt64 = 100_000

  private let clock: () -> UInt64

  /// The user whose client is running; `nil` if none is.
  private var current: UserShare?
  private var begun: UInt64 = 0

  /// The time since which a commit was not charged, in nanoseconds.
  private var commitBegun: UInt64 = 0
  private var deadline: UInt64 = 0
  private var lastLook: UInt64 = 0
  private var requestsUntilLook = 0
  private var isOver = false

  /// The users whose clients have run in this turn.
  private var spenders: [UserShare] = []

  /// The users with interrupted clients or with work, longest waiting first.
  private var waiting: [UserShare] = []

  /// The steps of work that were performed since the start.
  private(set) var steps: UInt64 = 0

  /// - Parameter clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  init(clock: @escaping () -> UInt64) {
    self.clock = clock
  }

  /// Whether some client is interrupted, or work is queued.
  var hasInterrupted: Bool { !waiting.isEmpty }

  /// Begins a slice for a client, unless one is running.
  ///
  /// - Returns: Whether a slice was begun, so that the caller must call ``end()``.
  func begin(for user: UserShare) -> Bool {
    guard current == nil else { return false }
    current = user
    begun = clock()
    let left = Self.share - min(Self.share, user.used)
    deadline = begun + min(Self.slice, left)
    lastLook = begun
    requestsUntilLook = 1
    isOver = left == 0
    return true
  }

  /// Ends the slice and charges its time to the user.
  func end() {
    guard let user = current else { return }
    current = nil
    let time = clock() - begun
    commitBegun += time
    spend(max(1, time), by: user)
  }

  /// Does work for a user within the slice of another one.
  ///
  /// The other user is not charged. But its slice gets no longer, nor its part of the turn: otherwise
  /// one with many requests could fill a turn with the work of another.
  func charge(_ user: UserShare, for work: () -> Void) {
    guard let current, current !== user else { return work() }
    let start = clock()
    work()
    let time = clock() - start
    begun += time
    if current.used == 0 { spenders.append(current) }
    current.lent += time
    spend(max(1, time), by: user)
  }

  /// Begins to measure what a commit costs, unless it is part of a slice.
  func beginCommit() { if current == nil { commitBegun = clock() } }

  /// Charges a user for the time since the last call of this or of ``beginCommit()``, without the
  /// slices of clients in it.
  func chargeCommit(to user: UserShare) {
    guard current == nil else { return }
    let now = clock()
    spend(max(1, now - min(now, commitBegun)), by: user)
    commitBegun = now
  }

  private func spend(_ time: UInt64, by user: UserShare) {
    if user.used == 0 { spenders.append(user) }
    user.spent += time
  }

  /// Returns whether the running client must stop before its next request.
  ///
  /// Call it before each request or each step of output. The first request of a slice may run
  /// unless the user's share is used up. Always `false` if no client is running.
  func isUp() -> Bool {
    guard current != nil else { return false }
    guard !isOver else { return true }
    guard requestsUntilLook == 0 else {
      requestsUntilLook -= 1
      return false
    }
    let now = clock()
    requestsUntilLook = now - lastLook > Self.quick ? 0 : Self.quickRequests - 1
    lastLook = now
    isOver = now >= deadline
    return isOver
  }

  /// Returns whether the running slice is over, by the clock.
  ///
  /// For steps that may each take long; ``isUp()`` does not look at the clock each time. `false` if
  /// nothing is running.
  func isUpNow() -> Bool {
    guard current != nil else { return false }
    if !isOver { isOver = clock() >= deadline }
    return isOver
  }

  /// Whether a user's share of this turn is used up.
  func isUsedUp(by user: UserShare) -> Bool { user.used >= Self.share }

  /// Counts a step of work.
  func countStep() { steps &+= 1 }

  /// Queues an interrupted client, or work, to continue later.
  func append(_ client: any Interruptible) {
    let user = client.user
    user.interrupted.append(client)
    guard !user.isInterrupted else { return }
    user.isInterrupted = true
    waiting.append(user)
  }

  /// Does the work of each user until the user's slice is over.
  ///
  /// Does nothing while a client or other work runs.
  func work() {
    guard current == nil else { return }
    var i = 0
    // Work may add work for other users.
    while i < waiting.count {
      waiting[i].work?.run()
      i += 1
    }
  }

  /// Whether work is queued for some user.
  var hasWork: Bool { waiting.contains { $0.work?.isEmpty == false } }

  /// Removes all work.
  func dropWork() { for user in waiting { user.work?.removeAll() } }

  /// Resumes interrupted clients and the work of each user, each once, until the user's share of this
  /// turn is used up.
  ///
  /// The turn must also deliver the results, so a client alone gets no second slice.
  func goOn() {
    var i = 0
    while i < waiting.count {
      let user = waiting[i]
      for _ in 0..<user.interrupted.count {
        guard !isUsedUp(by: user), let client = user.interrupted.popFirst() else { break }
        client.goOnAfterInterruption()
      }
      i += 1
    }
    waiting.removeAll { user in
      user.isInterrupted = !user.interrupted.isEmpty
      return !user.isInterrupted
    }
  }

  /// Begins the delivery of changes, for which each user has at least a slice.
  ///
  /// Otherwise a user with many requests would get no changes.
  func beginDelivery() {
    for user in spenders {
      let left = min(user.used, Self.share - Self.slice)
      // A user may be listed twice.
      user.forgiven += user.used - left
      (user.spent, user.lent) = (left, 0)
    }
  }

  /// Whether a user's share of this turn is used up for requests, also while changes are delivered.
  func isUsedUpForRequests(by user: UserShare) -> Bool {
    user.forgiven + user.used >= Self.share
  }

  /// Charges a user for bytes that are sent outside of a slice.
  func charge(_ bytes: Int, to user: UserShare) {
    guard current == nil else { return }
    spend(Self.sending + UInt64(bytes), by: user)
  }

  /// The nanoseconds that a call to send costs, and about one more for each byte.
  private static let sending: UInt64 = 1_000

  /// Ends the turn and resets the time of all users.
  func endTurn() {
    for user in spenders { (user.spent, user.lent, user.forgiven) = (0, 0, 0) }
    spenders.removeAll(keepingCapacity: true)
  }
}

/// A client, or the work of a user, that is interrupted when its time slice is over.
protocol Interruptible: AnyObject {
  var user: UserShare { get }

  /// Continues in a later turn.
  func goOnAfterInterruption()
}

/// The shares of all users with clients or work.
final class UserShares {
  /// The limits for all users whose role sets none.
  var limits: Limits {
    didSet { for share in shares.values { share.apply(share.limits, common: limits) } }
  }

  /// The limits of roles.
  var roleLimits = RoleLimits()

  /// Users exempt from the limits of one user (administrators).
  var owners: Set<UInt32> = []

  private var shares: [UInt32: UserShare] = [:]

  /// Users who had work or memory and no client at some time.
  private var visitors: [UserShare] = []

  init(_ limits: Limits) {
    self.limits = limits
  }

  subscript(uid: UInt32) -> UserShare? { shares[uid] }

  /// The shares of all users, in any order.
  var values: some Collection<UserShare> { shares.values }

  /// Returns the share of a user, and adds it if necessary.
  func share(of uid: UInt32) -> UserShare {
    if let known = shares[uid] { return known }
    let share = UserShare(uid: uid)
    share.apply(roleLimits.limits(of: uid, common: limits), common: limits)
    shares[uid] = share
    visitors.append(share)
    return share
  }

  /// Applies changed limits, of all users and of roles.
  func refreshLimits() {
    for share in shares.values {
      share.apply(roleLimits.limits(of: share.uid, common: limits), common: limits)
    }
  }

  /// Removes a share whose last client has left, now or once its work is done.
  func release(_ share: UserShare) {
    if share.isUnused {
      shares[share.uid] = nil
    } else if share.connections == 0 {
      visitors.append(share)
    }
  }

  /// Removes the shares of users without clients and without work.
  func removeUnused() {
    guard !visitors.isEmpty else { return }
    visitors.removeAll { share in
      guard share.isUnused else { return share.connections > 0 }
      if shares[share.uid] === share { shares[share.uid] = nil }
      return true
    }
  }
}

/// The resources that all clients of one system user share.
///
/// It exists while the user has a client, or work is done for the user.
final class UserShare {
  let uid: UInt32

  /// The limits of the clients; `nil` if the role of the user sets none.
  private(set) var limits: Limits?

  /// The most bytes to buffer for the clients.
  ///
  /// Kept by itself, because each request needs it, and a copy of all limits costs more.
  private(set) var maxBufferedBytes = Int.max

  /// The number of connected clients.
  var connections = 0

  /// The number of late calls.
  var lateCalls = 0

  /// Bytes buffered for the clients: incomplete input, waiting answers and pending output.
  var bufferedBytes = 0

  /// The estimated bytes of the subscriptions, views, bindings, providers and late calls of the
  /// clients.
  var itemBytes = 0

  /// The nanoseconds of this turn that the clients and the work have used.
  var spent: UInt64 = 0

  /// The nanoseconds of its slices that were used for others.
  var lent: UInt64 = 0

  /// The nanoseconds of this turn that do not count while changes are delivered.
  var forgiven: UInt64 = 0

  /// The nanoseconds of this turn that are used up.
  var used: UInt64 { spent + lent }

  /// The interrupted clients and the work, in the order in which they continue.
  var interrupted = Queue<any Interruptible>()

  /// The work of the user; `nil` if there never was any.
  var work: WorkQueue?

  /// The request that is done in parts; `nil` if none is.
  weak var parts: PartsTurn?

  /// Whether the user is in the waiting list of ``TurnTime``.
  var isInterrupted = false

  init(uid: UInt32) {
    self.uid = uid
  }

  /// Applies the limits of the user's role, or the common ones.
  func apply(_ own: Limits?, common: Limits) {
    limits = own
    maxBufferedBytes = (own ?? common).bufferedPerUser
  }

  var isUnused: Bool {
    connections == 0 && lateCalls == 0 && itemBytes == 0 && work?.isEmpty ?? true
  }
}

/// The right of a request to be done in parts, in several turns, until it is released.
///
/// Of a user, one request at a time has it, so that the parts of many answers do not fill the memory.
package final class PartsTurn {}

extension Client {
  /// Whether no request of the user is done in parts.
  package final var mayBeginParts: Bool { user.parts == nil }

  /// Returns the right to do a request in parts; `nil` if another request of the user has it.
  package final func beginParts() -> PartsTurn? {
    guard user.parts == nil else { return nil }
    let turn = PartsTurn()
    user.parts = turn
    return turn
  }
}
