internal import Queues
internal import Facts
internal import JSON
internal import Journal

/// The commands that already ran, by idempotency key, so that none runs twice.
///
/// Each user has a window of the last 24 hours, at most 100,000 commands. All windows together
/// hold at most 200,000; see ``CommandTable``.
struct CommandWindow {
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

  mutating func note(_ id: CommandIdentity, _ entry: Entry) {
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
  mutating func note(_ record: Record, _ coder: EventCoder) {
    guard let name = record.command, let meta = record.meta,
      let meta = coder.value(Meta.self, of: JSONText(kept: meta)),
      let call = meta.call.flatMap({ UInt64($0, radix: 16) })
    else { return }
    var entry = Entry(
      seq: record.seq, version: record.version, time: record.time, call: call,
      answer: .init(meta.value))
    entry.leaveToJournal()
    note(CommandIdentity(user: .init(meta.uid), name: name), entry)
  }

  /// Drops the long answers that have become durable from memory.
  mutating func settle(upTo seq: UInt64) {
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
      kept: #"[\#(name),\#(seq),\#(version),\#(time),"\#(String(call, radix: 16))"\#(end)]"#)
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

/// A cache for the ``Meta`` text of commands without a key, because consecutive ones are mostly
/// equal.
struct MetaTexts {
  private var last: (method: String, caller: Peer, text: String)?

  mutating func text(_ method: String, _ caller: Peer) -> String {
    if let last, last.caller == caller, last.method == method { return last.text }
    let method = method
    let text =
      #"{"uid":\#(caller.uid),"pid":\#(caller.pid),"method":\#(JSONText(string: method))}"#
    last = (method, caller, text)
    return text
  }
}

/// The metadata stored with an event: the caller and the answer.
struct Meta: Codable {
  let uid: UInt32
  let pid: Int32
  let method: String

  /// The fingerprint of the call; only on the last event of a command with a key.
  var call: String?
  var value: JSONText?
}
