internal import JSON
internal import Journal
internal import Model
internal import Signals

/// The commands that already ran, by idempotency key, so that none runs twice.
///
/// Each user has a window of the last 24 hours, at most 100,000 commands. All windows together
/// hold at most 200,000; see ``CommandTable``.
struct CommandWindow: Sendable {
  /// A command that already ran.
  struct Entry: Equatable, Sendable {
    /// The location of a command's answer.
    enum Answer: Equatable, Sendable {
      case none
      case text(JSONText)
      /// In the journal with the command's last event, because it is long.
      case inJournal
    }

    /// The position of the command's last event.
    ///
    /// If it recorded nothing, the last position when it ran.
    let seq: UInt64

    /// The version of its last event in its stream; 0 if it recorded nothing.
    let version: UInt64

    /// The time in microseconds since 1970.
    let time: Int64

    /// The hash of the call; see ``fingerprint(_:_:)``.
    let call: UInt64
    private(set) var answer: Answer

    init(seq: UInt64, version: UInt64, time: Int64, call: UInt64, answer: Answer) {
      (self.seq, self.version, self.time) = (seq, version, time)
      (self.call, self.answer) = (call, answer)
    }

    var hasRecorded: Bool { version > 0 }

    /// The answer, unless it is only in the journal (``isInJournal``).
    var value: JSONText? {
      if case .text(let value) = answer { return value }
      return nil
    }

    var isInJournal: Bool { answer == .inJournal }

    fileprivate var isLong: Bool { CommandWindow.isLong(value) }

    /// Drops a long answer from memory, because it is durable in the journal.
    fileprivate mutating func leaveToJournal() {
      if isLong { answer = .inJournal }
    }
  }

  private static let maxAge: Int64 = 24 * 3600 * 1_000_000

  /// The maximum size in bytes of an answer that stays in memory.
  private static let maxBytes = 256

  private var entries = CommandTable<Entry>(maxOfUser: 100_000, maxOfAll: 200_000)

  /// Commands with a long answer that is not durable yet, in order.
  private var long = Queue<CommandIdentity>()

  /// The time of the last scan of all users for expired entries.
  private var cleanedAt: Int64 = 0

  /// Returns whether an answer is too long to stay in memory.
  static func isLong(_ value: JSONText?) -> Bool { value?.text.utf8.count ?? 0 > maxBytes }

  /// Returns the command that a user ran under this key, or `nil` if there is none.
  subscript(id: CommandIdentity) -> Entry? {
    entries[id] ?? entries[CommandIdentity(user: .anyone, name: id.name)]
  }

  mutating func add(_ id: CommandIdentity, _ entry: Entry) {
    entries.add(id, entry)
    if entry.isLong { long.append(id) }
    let oldest = entry.time - Self.maxAge
    entries.removeOldest(of: id.user) { $0.time < oldest }
    // Expires entries of users who send no more commands.
    if entry.time - cleanedAt > Self.maxAge / 24 {
      cleanedAt = entry.time
      entries.removeOldest { $0.time < oldest }
    }
  }

  /// Adds the command of a record from before this start.
  mutating func add(_ record: Record, _ coder: EventCoder) {
    guard let name = record.command, let meta = record.meta,
      let meta = coder.value(Meta.self, of: JSONText(trusted: meta)),
      let call = meta.call.flatMap({ UInt64($0, radix: 16) })
    else { return }
    var entry = Entry(
      seq: record.seq, version: record.version, time: record.time, call: call,
      answer: .init(meta.value))
    entry.leaveToJournal()
    add(CommandIdentity(user: .init(meta.uid), name: name), entry)
  }

  /// Drops the long answers that have become durable from memory.
  mutating func commit(upTo seq: UInt64) {
    while let id = long.first, entries[id].map({ $0.seq <= seq }) ?? true {
      _ = long.popFirst()
      entries.update(id) { $0.leaveToJournal() }
    }
  }

  /// Removes the commands whose events, or the events they were decided on, are lost.
  mutating func discard(after seq: UInt64) {
    entries.removeNewest { $0.seq > seq }
    long.removeAll()
  }

  /// Returns the FNV-1a hash of method and parameters
  /// (<http://www.isthe.com/chongo/tech/comp/fnv/>).
  static func fingerprint(_ method: String, _ parameters: String) -> UInt64 {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for part in [method, " ", parameters] {
      for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    return hash
  }
}

extension CommandWindow.Entry.Answer {
  init(_ value: JSONText?) {
    self = value.map { .text($0) } ?? .none
  }
}

// The snapshot form: for each user an array of commands, the oldest first. A command is
// `[name,seq,version,time,call]`, followed by its answer if it has one. If the answer is in the
// journal, `null,true` follows instead. The user `*` holds commands of unknown users.
extension CommandWindow {
  /// The snapshot of all commands that recorded events; only these follow from the journal.
  var kept: JSONText {
    var users: [String: [JSONText]] = [:]
    entries.forEach { id, entry in
      guard entry.hasRecorded else { return }
      users[id.user.uid.map { "\($0)" } ?? "*", default: []].append(entry.kept(as: id.name))
    }
    return JSONText(members: users.mapValues { JSONText(elements: $0) })
  }

  /// Reads a snapshot; returns `nil` if it is malformed.
  init?(kept text: JSONText) {
    var isWhole = true
    let isObject = text.forEachMember { user, commands in
      guard let user = CommandIdentity.User(kept: user), let commands = commands.elements else {
        return isWhole = false
      }
      for command in commands {
        guard let (name, entry) = Entry.read(command) else { return isWhole = false }
        entries.add(CommandIdentity(user: user, name: name), entry)
      }
    }
    guard isObject, isWhole else { return nil }
  }
}

extension CommandIdentity.User {
  fileprivate init?(kept text: String) {
    if text == "*" {
      self = .anyone
    } else if let uid = UInt32(text) {
      self.init(uid)
    } else {
      return nil
    }
  }
}

extension CommandWindow.Entry {
  fileprivate func kept(as name: String) -> JSONText {
    let end =
      switch answer {
      case .none: ""
      case .text(let value): "," + value.text
      case .inJournal: ",null,true"
      }
    let name = JSONText(string: name).text
    return JSONText(
      trusted: #"[\#(name),\#(seq),\#(version),\#(time),"\#(String(call, radix: 16))"\#(end)]"#)
  }

  fileprivate static func read(_ text: JSONText) -> (name: String, entry: Self)? {
    guard let parts = text.elements, 5...7 ~= parts.count, let name = parts[0].string,
      let seq = UInt64(parts[1].text), let version = UInt64(parts[2].text), version > 0,
      let time = Int64(parts[3].text), let call = parts[4].string,
      let call = UInt64(call, radix: 16), parts.count < 7 || parts[6].bool == true
    else { return nil }
    let answer: Answer =
      parts.count == 5 ? .none : parts.count == 6 ? .text(parts[5]) : .inJournal
    return (name, Self(seq: seq, version: version, time: time, call: call, answer: answer))
  }
}

/// The origins of commands without a key or a cause, by caller and method.
///
/// Consecutive commands mostly have the same origin, and many clients take turns.
struct OriginTable {
  private final class Entry {
    let caller: Peer
    let method: String
    let origin: EventOrigin

    /// The ``Meta`` text without its end, to which a cause is added.
    let start: String

    init(_ method: String, _ caller: Peer) {
      (self.caller, self.method) = (caller, method)
      let program = caller.program.map { #","program":\#(JSONText(string: $0))"# } ?? ""
      start =
        #"{"uid":\#(caller.uid),"pid":\#(caller.pid),"method":\#(JSONText(string: method))\#(program)"#
      origin = EventOrigin(user: caller.uid, meta: start + "}")
    }

    @inline(__always)
    func isOf(_ method: String, _ caller: Peer) -> Bool {
      self.caller === caller && self.method == method
    }
  }

  /// An entry is at a place that follows from its caller and its method; a newer one replaces it.
  private var entries: ContiguousArray<Entry?> = []
  private var last: Entry?

  private static let bits = 9

  /// Returns the origin for a method and a caller.
  mutating func origin(of method: String, by caller: Peer) -> EventOrigin {
    entry(of: method, by: caller).origin
  }

  private mutating func entry(of method: String, by caller: Peer) -> Entry {
    if let last, last.isOf(method, caller) { return last }
    if entries.isEmpty { entries = ContiguousArray(repeating: nil, count: 1 << Self.bits) }
    let address = UInt64(UInt(bitPattern: ObjectIdentifier(caller)))
    let mixed = (address &+ UInt64(method.utf8.count)) &* 0x9E37_79B9_7F4A_7C15
    let place = Int(mixed >> UInt64(64 - Self.bits))
    if let entry = entries[place], entry.isOf(method, caller) {
      last = entry
      return entry
    }
    let entry = Entry(method, caller)
    entries[place] = entry
    last = entry
    return entry
  }

  /// Returns the ``Meta`` text of a command without a key.
  ///
  /// A binding writes one for each of its events, so the parts that stay are not written again.
  mutating func meta(_ method: String, _ caller: Peer, _ cause: Command.Cause?) -> String {
    let start = entry(of: method, by: caller).start
    guard let cause else { return start + "}" }
    var text = ByteBuffer()
    text.append(start)
    text.object("cause") { text in
      text.member("source", cause.source)
      text.member("seq", cause.seq)
      text.member("binding", cause.binding)
      text.member("client", cause.client)
    }
    text.append("}")
    return text.string
  }
}

/// The metadata stored with an event: the caller and the answer.
struct Meta: Codable {
  let uid: UInt32
  let pid: Int32
  let method: String

  /// See ``Peer/program``.
  var program: String?

  /// See ``Command/cause``.
  var cause: Command.Cause?

  /// The fingerprint of the call; only on the last event of a command with a key.
  var call: String?
  var value: JSONText?
}

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

extension CommandTable: Sendable where Entry: Sendable {}
extension CommandTable.UserEntries: Sendable where Entry: Sendable {}
extension CommandTable.UserEntries.Slot: Sendable where Entry: Sendable {}

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
  fileprivate struct UserEntries {
    fileprivate struct Slot {
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
