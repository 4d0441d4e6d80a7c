internal import Facts
internal import Queues
internal import Signals

/// Commands by idempotency key, with a bounded number for each user.
///
/// Entries of a user are in insertion order, and the oldest are removed first. A user does not
/// displace the entries of others, except when the total exceeds its limit. In that case the
/// users with the most entries lose their oldest ones.
struct CommandTable<Entry> {
  /// The maximum number of entries of one user.
  let maxOfUser: Int

  /// The maximum number of entries of all users together.
  let maxOfAll: Int

  /// The number of entries.
  private(set) var count = 0
  private var users: [CommandIdentity.User: UserEntries] = [:]

  /// The number of entries to remove at once when there are too many.
  ///
  /// This spreads the cost of comparing users over many insertions.
  private let batch: Int

  init(maxOfUser: Int, maxOfAll: Int) {
    precondition(maxOfUser > 0 && maxOfAll > 0, "a table without room")
    (self.maxOfUser, self.maxOfAll) = (maxOfUser, maxOfAll)
    batch = max(1, maxOfAll / 128)
  }

  var isEmpty: Bool { count == 0 }

  subscript(id: CommandIdentity) -> Entry? { users[id.user]?[id.name] }

  /// Adds an entry as the newest one of a user.
  mutating func add(_ id: CommandIdentity, _ entry: Entry) {
    let max = maxOfUser
    change(id.user) { entries in
      if entries.count >= max, entries[id.name] == nil { entries.removeOldest() }
      entries.add(id.name, entry)
    }
    if count > maxOfAll { shrink() }
  }

  /// Changes an entry if it exists.
  mutating func update(_ id: CommandIdentity, _ body: (inout Entry) -> Void) {
    users[id.user]?.update(id.name, body)
  }

  /// Removes a user's oldest entries while the condition holds.
  mutating func removeOldest(
    of user: CommandIdentity.User, while isMeant: (Entry) -> Bool
  ) {
    change(user) { $0.removeOldest(while: isMeant) }
  }

  /// Removes the oldest entries of each user while the condition holds.
  mutating func removeOldest(while isMeant: (Entry) -> Bool) {
    for user in Array(users.keys) { removeOldest(of: user, while: isMeant) }
  }

  /// Removes the newest entries of each user while the condition holds.
  mutating func removeNewest(while isMeant: (Entry) -> Bool) {
    for user in Array(users.keys) { change(user) { $0.removeNewest(while: isMeant) } }
  }

  /// Calls `body` with all entries: for each user the oldest first, users in no particular order.
  func forEach(_ body: (CommandIdentity, Entry) -> Void) {
    for (user, entries) in users {
      entries.forEach { body(CommandIdentity(user: user, name: $0), $1) }
    }
  }

  private mutating func change(
    _ user: CommandIdentity.User, _ body: (inout UserEntries) -> Void
  ) {
    let before = users[user]?.count ?? 0
    body(&users[user, default: UserEntries()])
    let after = users[user]?.count ?? 0
    count += after - before
    if after == 0 { users[user] = nil }
  }

  /// Removes a batch of entries from the users with the most.
  private mutating func shrink() {
    var excess = count - maxOfAll + batch - 1
    let counts = users.map { (user: $0.key, count: $0.value.count) }.sorted { $0.count > $1.count }
    // No user is cut below the count of the next one, who keeps all entries.
    for (i, (_, count)) in counts.enumerated() {
      let next = i + 1 < counts.count ? counts[i + 1].count : 0
      let share = min(count - next, (excess + i) / (i + 1))
      guard share > 0 else { continue }
      for (user, _) in counts[...i] where excess > 0 {
        let removed = min(share, excess)
        change(user) { entries in for _ in 0..<removed { entries.removeOldest() } }
        excess -= removed
      }
      if excess <= 0 { return }
    }
  }
}

/// An idempotency key, scoped by user.
struct CommandIdentity: Hashable, Sendable {
  /// The user who owns the key; ``anyone`` if unknown.
  struct User: Hashable, Sendable {
    /// The uid; `nil` for ``anyone``.
    let uid: UInt32?

    init(_ uid: UInt32) { self.uid = uid }

    private init() { uid = nil }

    /// Any user; keys of early versions were not scoped by user.
    static let anyone = User()
  }

  let user: User
  let name: String
}

extension CommandTable {
  /// The entries of one user by key, in insertion order.
  private struct UserEntries {
    private struct Slot {
      let name: String
      var entry: Entry
    }

    /// The entries, the oldest first, including those that a newer one has replaced.
    private var slots = Queue<Slot>()

    /// The number of slots that were removed from the front of ``slots``.
    private var dropped = 0

    /// The index of each entry, counted from the first entry ever added.
    private var places: [String: Int] = [:]

    var count: Int { places.count }

    private func index(_ name: String) -> Int? { places[name].map { $0 - dropped } }

    subscript(name: String) -> Entry? { index(name).map { slots[$0].entry } }

    mutating func add(_ name: String, _ entry: Entry) {
      slots.append(Slot(name: name, entry: entry))
      // This invalidates the slot of an older entry with the same key.
      places[name] = dropped + slots.count - 1
    }

    mutating func update(_ name: String, _ body: (inout Entry) -> Void) {
      guard let index = index(name) else { return }
      body(&slots[index].entry)
    }

    /// Returns whether a slot holds the current entry of its key, not a replaced one.
    private func isCurrent(_ index: Int) -> Bool { places[slots[index].name] == dropped + index }

    mutating func removeOldest() {
      while !slots.isEmpty, !removeFirst() {}
    }

    mutating func removeOldest(while isMeant: (Entry) -> Bool) {
      while let first = slots.first, !isCurrent(0) || isMeant(first.entry) { removeFirst() }
    }

    /// Removes the first slot.
    ///
    /// - Returns: Whether the slot held a current entry.
    @discardableResult
    private mutating func removeFirst() -> Bool {
      guard let slot = slots.first else { return false }
      let isEntry = isCurrent(0)
      if isEntry { places[slot.name] = nil }
      _ = slots.popFirst()
      dropped += 1
      return isEntry
    }

    mutating func removeNewest(while isMeant: (Entry) -> Bool) {
      while let last = slots.last {
        let isCurrent = isCurrent(slots.count - 1)
        guard !isCurrent || isMeant(last.entry) else { return }
        if isCurrent { places[last.name] = nil }
        _ = slots.popLast()
      }
    }

    func forEach(_ body: (String, Entry) -> Void) {
      for index in slots.indices where isCurrent(index) {
        body(slots[index].name, slots[index].entry)
      }
    }
  }
}

/// The commands with an idempotency key that a service rejected.
///
/// In memory only: the last 10,000 of each user, 20,000 of all users.
///
/// A client may repeat a command on another connection and be rejected there, before the daemon
/// reads the first copy. The first copy must then not run, because the client already has an
/// error.
struct RefusedCommands {
  private typealias Refused = (call: UInt64, error: any ServiceError)

  private var refused = CommandTable<Refused>(maxOfUser: 10_000, maxOfAll: 20_000)

  mutating func note(_ command: Command, _ error: any ServiceError) {
    guard let id = command.identity else { return }
    refused.add(id, (command.fingerprint, error))
  }

  /// Returns the error of an earlier run of the same command, or `nil` if there is none.
  ///
  /// - Throws: ``Refusal/reused(seq:)`` if the idempotency key belongs to another command.
  func refusal(of command: Command) throws(Refusal) -> (any ServiceError)? {
    guard !refused.isEmpty, let id = command.identity, let entry = refused[id] else { return nil }
    guard entry.call == command.fingerprint else { throw .reused(seq: nil) }
    return entry.error
  }

  /// Removes all entries, because the events they were decided on are lost.
  mutating func removeAll() { self = RefusedCommands() }
}
