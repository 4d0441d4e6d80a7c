internal import JSON
internal import Journal

/// The commands that were run under an identity, so that none is run twice: those of the last 24
/// hours, 100,000 at the most.
struct CommandWindow: Codable, Sendable {
  /// One command that was run.
  struct Entry: Codable, Equatable, Sendable {
    /// Its last event; of a command that recorded nothing, the last event that it was decided on.
    let seq: UInt64

    /// The place of its last event in its stream; 0 when it recorded nothing.
    let version: UInt64

    /// Microseconds since 1970.
    let time: Int64

    /// What was asked; see ``fingerprint(_:_:)``.
    let call: String

    /// What was answered, unless that ``isInJournal``.
    private(set) var value: JSONText?

    /// Whether what was answered is to be read in the journal, beside the last event.
    private(set) var isInJournal = false

    init(seq: UInt64, version: UInt64, time: Int64, call: String, value: JSONText?) {
      (self.seq, self.version, self.time) = (seq, version, time)
      (self.call, self.value) = (call, value)
    }

    var hasRecorded: Bool { version > 0 }

    fileprivate var isLong: Bool { CommandWindow.isLong(value) }

    /// Lets a long answer go, which is durable.
    fileprivate mutating func leaveToJournal() {
      guard isLong else { return }
      value = nil
      isInJournal = true
    }
  }

  private static let maxCount = 100_000
  private static let maxAge: Int64 = 24 * 3600 * 1_000_000

  /// Bytes of an answer that is kept in memory.
  private static let maxBytes = 256

  private var entries: [String: Entry] = [:]

  /// Identities by age, from ``oldest`` on; may name one that was run again later.
  private var order: [String] = []
  private var oldest = 0

  /// Those with a long answer that is not durable yet, in order.
  private var long: [String] = []

  private enum CodingKeys: CodingKey {
    case entries, order, oldest
  }

  /// The identity of a command among those of all users: each has names of his own.
  static func identity(_ id: String, of uid: UInt32) -> String { "\(uid) \(id)" }

  /// Whether an answer is too long to be kept in memory.
  static func isLong(_ value: JSONText?) -> Bool { value?.text.utf8.count ?? 0 > maxBytes }

  subscript(id: String) -> Entry? { entries[id] }

  mutating func note(_ id: String, _ entry: Entry) {
    entries[id] = entry
    order.append(id)
    if entry.isLong { long.append(id) }
    while oldest < order.count, let first = entries[order[oldest]],
      entries.count > Self.maxCount || entry.time - first.time > Self.maxAge
    {
      entries[order[oldest]] = nil
      oldest += 1
    }
    if oldest > 1024, oldest > order.count / 2 {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  /// Takes over what a record of before this start says.
  mutating func note(_ record: Record, _ coder: EventCoder) {
    guard let id = record.command, let meta = record.meta,
      let meta = coder.value(Meta.self, of: JSONText(kept: meta)), let call = meta.call
    else { return }
    var entry = Entry(
      seq: record.seq, version: record.version, time: record.time, call: call, value: meta.value)
    entry.leaveToJournal()
    note(Self.identity(id, of: meta.uid), entry)
  }

  /// Leaves the long answers that have become durable to the journal.
  mutating func settle(upTo seq: UInt64) {
    guard !long.isEmpty else { return }
    let durable = long.prefix { entries[$0].map { $0.seq <= seq } ?? true }
    for id in durable { entries[id]?.leaveToJournal() }
    long.removeFirst(durable.count)
  }

  /// Forgets the commands whose events, or those that they were decided on, are lost.
  mutating func discard(after seq: UInt64) {
    keep { $0.seq <= seq }
    long = []
  }

  /// What is durable and follows from the journal alone.
  var kept: CommandWindow {
    var kept = self
    kept.keep { $0.hasRecorded }
    return kept
  }

  private mutating func keep(_ isKept: (Entry) -> Bool) {
    entries = entries.filter { isKept($0.value) }
    order = order[oldest...].filter { entries[$0] != nil }
    oldest = 0
  }

  /// What a call asks, in few bytes: FNV-1a of method and parameters
  /// (<http://www.isthe.com/chongo/tech/comp/fnv/>), in hexadecimal digits.
  static func fingerprint(_ method: String, _ parameters: String) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for part in [method, " ", parameters] {
      for byte in part.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
    return String(hash, radix: 16)
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
