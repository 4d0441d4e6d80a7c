internal import Signals

/// The leases that are to end: some in each turn, so that others are served between them.
///
/// The users take turns. The work of a turn is bounded; the last lease of a turn may exceed it by its
/// own work, which ``LeasesService/maxParts`` bounds.
struct LeaseEnds {
  /// The events of a turn: about 2 ms.
  private static let workPerTurn = 512

  /// The nanoseconds that count as an event: calls of a will may take longer than their events.
  private static let nanosecondsPerEvent: UInt64 = 4_000

  /// The leases by user, in order.
  private var names: [UInt32: Queue<String>] = [:]

  /// The users with leases, the next one first.
  private var users = Queue<UInt32>()

  /// The reason of each lease; one without a reason is not to end any more.
  private var reasons: [String: LeaseEnd] = [:]

  private var room = workPerTurn

  /// Whether nothing was done in this turn and nothing is left to do.
  var isIdle: Bool { room == Self.workPerTurn && users.isEmpty }

  /// Adds a lease of a user; one that is there already keeps its place.
  mutating func add(_ name: String, of user: UInt32, _ reason: LeaseEnd) {
    guard reasons.updateValue(reason, forKey: name) == nil else { return }
    if names[user] == nil { users.append(user) }
    names[user, default: Queue()].append(name)
  }

  /// Keeps a lease that was to end.
  mutating func remove(_ name: String) { reasons[name] = nil }

  /// Removes and returns the next lease; `nil` if there is none, or no room in this turn.
  mutating func next() -> (name: String, reason: LeaseEnd)? {
    while room > 0, let user = users.popFirst() {
      let name = names[user]?.popFirst()
      if names[user]?.isEmpty == false { users.append(user) } else { names[user] = nil }
      if let name, let reason = reasons.removeValue(forKey: name) { return (name, reason) }
    }
    return nil
  }

  /// Notes the work of an end in this turn: its events, and its time.
  mutating func spend(_ events: Int, nanoseconds: UInt64) {
    room -= max(events, Int(nanoseconds / Self.nanosecondsPerEvent))
  }

  mutating func beginTurn() { room = Self.workPerTurn }

  mutating func removeAll() { self = LeaseEnds() }
}
