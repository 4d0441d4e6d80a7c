internal import Facts
internal import Signals

/// A scheduler that shares one turn of the loop between users, and between the clients of each.
///
/// A client is interrupted between two requests when its slice is over. It continues in the next
/// turn, after other clients of the same user. All clients of a user share one part of each turn,
/// so that many clients get no more time than a single one.
final class TurnTime {
  /// The nanoseconds that one client may run requests at a time.
  static let slice: UInt64 = 2_000_000

  /// The nanoseconds of one turn for all clients of one user.
  static let share: UInt64 = 4_000_000

  /// The number of quick requests between two clock reads.
  private static let quickRequests = 4

  /// The nanoseconds between two clock reads above which requests do not count as quick.
  private static let quick: UInt64 = 100_000

  private let clock: () -> UInt64

  /// The user whose client is running; `nil` if none is.
  private var current: UserShare?
  private var begun: UInt64 = 0
  private var deadline: UInt64 = 0
  private var lastLook: UInt64 = 0
  private var requestsUntilLook = 0
  private var isOver = false

  /// The users whose clients have run in this turn.
  private var spenders: [UserShare] = []

  /// The users with interrupted clients, longest waiting first.
  private var waiting: [UserShare] = []

  /// - Parameter clock: Returns the nanoseconds of a monotonic clock that advances within a turn.
  init(clock: @escaping () -> UInt64) {
    self.clock = clock
  }

  /// Whether some client is interrupted.
  var hasInterrupted: Bool { !waiting.isEmpty }

  /// Begins a slice for a client, unless one is running.
  ///
  /// - Returns: Whether a slice was begun, so that the caller must call ``end()``.
  func begin(for user: UserShare) -> Bool {
    guard current == nil else { return false }
    current = user
    begun = clock()
    let left = Self.share - min(Self.share, user.spent)
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
    if user.spent == 0 { spenders.append(user) }
    user.spent += max(1, time)
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

  /// Queues an interrupted client to continue later.
  func append(_ client: Client) {
    let user = client.user
    user.interrupted.append(client)
    guard !user.isInterrupted else { return }
    user.isInterrupted = true
    waiting.append(user)
  }

  /// Resumes interrupted clients of each user until the user's share of this turn is used up.
  func goOn() {
    for user in waiting {
      while user.spent < Self.share, let client = user.interrupted.popFirst() {
        client.goOnAfterInterruption()
      }
    }
    waiting.removeAll { user in
      user.isInterrupted = !user.interrupted.isEmpty
      return !user.isInterrupted
    }
  }

  /// Ends the turn and resets the time of all users.
  func endTurn() {
    for user in spenders { user.spent = 0 }
    spenders.removeAll(keepingCapacity: true)
  }
}

/// The resources that all clients of one system user share.
///
/// It exists while the user has a client.
final class UserShare {
  let uid: UInt32

  /// The number of connected clients.
  var connections = 0

  /// The number of late calls.
  var lateCalls = 0

  /// Bytes buffered for the clients: incomplete input, waiting answers and pending output.
  var bufferedBytes = 0

  /// The estimated bytes of the subscriptions, views, bindings, providers and late calls of the
  /// clients.
  var itemBytes = 0

  /// The nanoseconds of this turn that the clients have used.
  var spent: UInt64 = 0

  /// The interrupted clients, in the order in which they continue.
  var interrupted = Queue<Client>()

  /// Whether the user is in the waiting list of ``TurnTime``.
  var isInterrupted = false

  init(uid: UInt32) {
    self.uid = uid
  }

  var isUnused: Bool { connections == 0 && lateCalls == 0 }
}
