internal import JSON
internal import Journal

/// The commands that were run under an identity, so that none is run twice.
///
/// Each user has a window of the last 24 hours, at most 100,000 commands; all windows together hold
/// at most 200,000, see ``CommandTable``.
struct CommandWindow {
  /// One command that was run.
  struct Entry: Equatable, Sendable {
    /// Where the answer of a command is.
    enum Answer: Equatable, Sendable {
      case none
      case text(JSONText)
      /// Beside the command's last event in the journal, because it is long.
      case inJournal
    }

    /// Its last event; of a command that recorded nothing, the last event that it was decided on.
    let seq: UInt64

    /// The place of its last event in its stream; 0 when it recorded nothing.
    let version: UInt64

    /// Microseconds since 1970.
    let time: Int64

    /// What was asked; see ``fingerprint(_:_:)``.
    let call: UInt64
    private(set) var answer: Answer

    init(seq: UInt64, version: UInt64, time: Int64, call: UInt64, answer: Answer) {
      (self.seq, self.version, self.time) = (seq, version, time)
      (self.call, self.answer) = (call, answer)
    }

    var hasRecorded: Bool { version > 0 }

    /// What was answered, unless that ``isInJournal``.
    var value: JSONText? {
      if case .text(let value) = answer { return value }
      return nil
    }

    var isInJournal: Bool { answer == .inJournal }

    fileprivate var isLong: Bool { CommandWindow.isLong(value) }

    /// Lets a long answer go, which is durable.
    fileprivate mutating func leaveToJournal() {
      if isLong { answer = .inJournal }
    }
  }

  private static let maxAge: Int64 = 24 * 3600 * 1_000_000

  /// Bytes of an answer that is kept in memory.
  private static let maxBytes = 256

  private var entries = CommandTable<Entry>(maxOfUser: 100_000, maxOfAll: 200_000)

  /// Those with a long answer that is not durable yet, in order.
  private var long: [CommandIdentity] = []

  /// When the entries of all users were last looked through for old ones.
  private var cleanedAt: Int64 = 0

  /// Whether an answer is too long to be kept in memory.
  static func isLong(_ value: JSONText?) -> Bool { value?.text.utf8.count ?? 0 > maxBytes }

  /// The command that a user ran under this identity; `nil` when there is none.
  subscript(id: CommandIdentity) -> Entry? {
    entries[id] ?? entries[CommandIdentity(user: .anyone, name: id.name)]
  }

  mutating func note(_ id: CommandIdentity, _ entry: Entry) {
    entries.add(id, entry)
    if entry.isLong { long.append(id) }
    let oldest = entry.time - Self.maxAge
    entries.removeOldest(of: id.user) { $0.time < oldest }
    // Users who ask for nothing more.
    if entry.time - cleanedAt > Self.maxAge / 24 {
      cleanedAt = entry.time
      entries.removeOldest { $0.time < oldest }
    }
  }

  /// Takes over what a record of before this start says.
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

  /// Leaves the long answers that have become durable to the journal.
  mutating func settle(upTo seq: UInt64) {
    guard !long.isEmpty else { return }
    let durable = long.prefix { entries[$0].map { $0.seq <= seq } ?? true }
    for id in durable { entries.update(id) { $0.leaveToJournal() } }
    long.removeFirst(durable.count)
  }

  /// Forgets the commands whose events, or those that they were decided on, are lost.
  mutating func discard(after seq: UInt64) {
    entries.removeNewest { $0.seq > seq }
    long = []
  }

  /// What a call asks, in few bytes: FNV-1a of method and parameters
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

// As it is kept in a snapshot: for each user an array of commands, the oldest first. A command is
// `[name,seq,version,time,call]`, then its answer if it has one, then `true` if that is in the
// journal (`null` stands in its place). `*` stands for commands of a user that is not known.
extension CommandWindow {
  /// What is durable and follows from the journal alone.
  var kept: JSONText {
    var users: [String: [JSONText]] = [:]
    entries.forEach { id, entry in
      guard entry.hasRecorded else { return }
      users[id.user.uid.map { "\($0)" } ?? "*", default: []].append(entry.kept(as: id.name))
    }
    return JSONText(members: users.mapValues { JSONText(elements: $0) })
  }

  /// What was kept so; `nil` when it does not read back.
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

/// The texts of ``Meta`` for commands without an identity: those of a client are mostly the same.
struct MetaTexts {
  private var last: (method: String, caller: Caller, text: String)?

  mutating func text(_ method: String, _ caller: Caller) -> String {
    if let last, last.caller == caller, last.method == method { return last.text }
    let method = method
    let text =
      #"{"uid":\#(caller.uid),"pid":\#(caller.pid),"method":\#(JSONText(string: method))}"#
    last = (method, caller, text)
    return text
  }
}

/// What is kept beside an event: who caused it, and what the answer was.
struct Meta: Codable {
  let uid: UInt32
  let pid: Int32
  let method: String

  /// Only with the last event of a command with an identity.
  var call: String?
  var value: JSONText?
}
