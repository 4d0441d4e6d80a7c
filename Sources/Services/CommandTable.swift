/// What is kept of commands by their identity, a bounded number for each user.
///
/// A user's entries are in the order in which they came, and the oldest go first. One user cannot
/// push out the entries of another, except that all users together have a bound as well: beyond it
/// the users with the most entries lose their oldest.
struct CommandTable<Entry> {
  /// The most entries of one user.
  let maxOfUser: Int

  /// The most entries of all users together.
  let maxOfAll: Int

  /// How many entries there are.
  private(set) var count = 0
  private var users: [CommandIdentity.User: UserEntries] = [:]

  /// How many entries go at once when there are too many: then the users need to be compared only
  /// once for so many new ones.
  private let batch: Int

  init(maxOfUser: Int, maxOfAll: Int) {
    precondition(maxOfUser > 0 && maxOfAll > 0, "a table without room")
    (self.maxOfUser, self.maxOfAll) = (maxOfUser, maxOfAll)
    batch = max(1, maxOfAll / 128)
  }

  var isEmpty: Bool { count == 0 }

  subscript(id: CommandIdentity) -> Entry? { users[id.user]?[id.name] }

  /// Adds the newest entry of a user.
  mutating func add(_ id: CommandIdentity, _ entry: Entry) {
    let max = maxOfUser
    change(id.user) { entries in
      if entries.count >= max, entries[id.name] == nil { entries.removeOldest() }
      entries.add(id.name, entry)
    }
    if count > maxOfAll { shrink() }
  }

  /// Changes an entry, if it is there.
  mutating func update(_ id: CommandIdentity, _ body: (inout Entry) -> Void) {
    users[id.user]?.update(id.name, body)
  }

  /// Removes the oldest entries of a user as long as they are meant.
  mutating func removeOldest(
    of user: CommandIdentity.User, while isMeant: (Entry) -> Bool
  ) {
    change(user) { $0.removeOldest(while: isMeant) }
  }

  /// Removes the oldest entries of all users as long as they are meant.
  mutating func removeOldest(while isMeant: (Entry) -> Bool) {
    for user in Array(users.keys) { removeOldest(of: user, while: isMeant) }
  }

  /// Removes the newest entries of all users as long as they are meant.
  mutating func removeNewest(while isMeant: (Entry) -> Bool) {
    for user in Array(users.keys) { change(user) { $0.removeNewest(while: isMeant) } }
  }

  /// Calls `body` with the entries of each user, the oldest first, users in no order.
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

  /// Takes a batch away from the users with the most entries.
  private mutating func shrink() {
    var excess = count - maxOfAll + batch - 1
    let counts = users.map { (user: $0.key, count: $0.value.count) }.sorted { $0.count > $1.count }
    // No user is left with less than those after it, who keep all.
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

/// The identity that a client gave a command, among those of its user.
struct CommandIdentity: Hashable, Sendable {
  /// Whose names are meant; ``anyone`` where the user is not known.
  struct User: Hashable, Sendable {
    /// `nil` stands for ``anyone``.
    let uid: UInt32?

    init(_ uid: UInt32) { self.uid = uid }

    private init() { uid = nil }

    /// Whoever asks: there was a time when all users had names in common.
    static let anyone = User()
  }

  let user: User
  let name: String
}

extension CommandTable {
  /// The entries of one user by name, in the order in which they came.
  private struct UserEntries {
    private struct Slot {
      let name: String
      var entry: Entry
    }

    /// From ``first`` on, the oldest first.
    private var slots: [Slot] = []
    private var first = 0

    /// How many slots were before those in ``slots``.
    private var dropped = 0

    /// The place of each entry, counted from the first that there ever was.
    private var places: [String: Int] = [:]

    var count: Int { places.count }

    private func index(_ name: String) -> Int? { places[name].map { $0 - dropped } }

    subscript(name: String) -> Entry? { index(name).map { slots[$0].entry } }

    mutating func add(_ name: String, _ entry: Entry) {
      slots.append(Slot(name: name, entry: entry))
      // The slot of an older entry of this name has none from now on.
      places[name] = dropped + slots.count - 1
    }

    mutating func update(_ name: String, _ body: (inout Entry) -> Void) {
      guard let index = index(name) else { return }
      body(&slots[index].entry)
    }

    /// Whether a slot holds the entry of its name, and not one that came before that.
    private func isCurrent(_ index: Int) -> Bool { places[slots[index].name] == dropped + index }

    mutating func removeOldest() {
      while first < slots.count, !removeFirst() {}
    }

    mutating func removeOldest(while isMeant: (Entry) -> Bool) {
      while first < slots.count, !isCurrent(first) || isMeant(slots[first].entry) {
        removeFirst()
      }
    }

    /// Removes the first slot.
    ///
    /// - Returns: Whether it held an entry.
    @discardableResult
    private mutating func removeFirst() -> Bool {
      let isEntry = isCurrent(first)
      if isEntry { places[slots[first].name] = nil }
      first += 1
      if first > 1024, first > slots.count / 2 {
        slots.removeFirst(first)
        dropped += first
        first = 0
      }
      return isEntry
    }

    mutating func removeNewest(while isMeant: (Entry) -> Bool) {
      while first < slots.count, let last = slots.last {
        let isCurrent = isCurrent(slots.count - 1)
        guard !isCurrent || isMeant(last.entry) else { return }
        if isCurrent { places[last.name] = nil }
        slots.removeLast()
      }
    }

    func forEach(_ body: (String, Entry) -> Void) {
      for index in first..<slots.count where isCurrent(index) {
        body(slots[index].name, slots[index].entry)
      }
    }
  }
}
