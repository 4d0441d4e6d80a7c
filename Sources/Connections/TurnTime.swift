internal import Signals

/// The time of one turn of the loop, shared between users and between the clients of each.
///
/// A client that asks for much is interrupted between two requests when its slice is over, and goes
/// on in the next turn, behind others of the same user. The clients of one user have a share of each
/// turn together, so that a user with a thousand clients gets no more of the loop than one with a
/// single client.
final class TurnTime {
  /// Nanoseconds for which one client runs requests before others have their turn.
  static let slice: UInt64 = 2_000_000

  /// Nanoseconds of one turn for all clients of one user.
  static let share: UInt64 = 4_000_000

  /// Requests that are run between two looks at the clock while they are quick.
  private static let quickRequests = 4

  /// Nanoseconds between two looks above which requests are not quick.
  private static let quick: UInt64 = 100_000

  private let clock: () -> UInt64

  /// The user whose client works now; `nil` while none does.
  private var current: UserShare?
  private var begun: UInt64 = 0
  private var deadline: UInt64 = 0
  private var lastLook: UInt64 = 0
  private var requestsUntilLook = 0
  private var isOver = false

  /// Users whose clients have worked in this turn.
  private var spenders: [UserShare] = []

  /// Users with interrupted clients, the one that has waited longest first.
  private var waiting: [UserShare] = []

  /// - Parameter clock: Nanoseconds of a monotonic clock that goes on within a turn.
  init(clock: @escaping () -> UInt64) {
    self.clock = clock
  }

  /// Whether some client was interrupted and has not gone on.
  var hasInterrupted: Bool { !waiting.isEmpty }

  /// Begins the slice of a client, or goes on with it.
  ///
  /// - Returns: Whether it has begun here, so that ``end()`` is to be called.
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

  /// Ends the slice: its time is the user's.
  func end() {
    guard let user = current else { return }
    current = nil
    let time = clock() - begun
    if user.spent == 0 { spenders.append(user) }
    user.spent += max(1, time)
  }

  /// Whether the client that works now is to stop before its next request.
  ///
  /// To be asked before each request, or each step of what is sent; the first one of a slice is always
  /// done. Between slices, when no client works, it is never up.
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

  /// Lets an interrupted client go on in its turn.
  func append(_ connection: Connection) {
    let user = connection.user
    user.interrupted.append(connection)
    guard !user.isInterrupted else { return }
    user.isInterrupted = true
    waiting.append(user)
  }

  /// Lets interrupted clients go on, those of each user until the user's share of this turn is used
  /// up.
  func goOn() {
    for user in waiting {
      while user.spent < Self.share, let connection = user.interrupted.popFirst() {
        connection.goOnAfterInterruption()
      }
    }
    waiting.removeAll { user in
      user.isInterrupted = !user.interrupted.isEmpty
      return !user.isInterrupted
    }
  }

  /// A new turn begins.
  func endTurn() {
    for user in spenders { user.spent = 0 }
    spenders = []
  }
}
