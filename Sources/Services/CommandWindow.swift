internal import JSON
internal import Journal

/// The commands that were run under an identity, so that none is run twice: those of the last 24
/// hours, 100,000 at the most.
struct CommandWindow: Codable, Sendable {
  /// One command that was run.
  struct Entry: Codable, Equatable, Sendable {
    /// Its last event.
    let seq: UInt64
    let version: UInt64

    /// Microseconds since 1970.
    let time: Int64

    /// What was asked; see ``fingerprint(_:_:)``.
    let call: String

    /// What was answered.
    let value: JSONText?
  }

  private static let maxCount = 100_000
  private static let maxAge: Int64 = 24 * 3600 * 1_000_000

  private var entries: [String: Entry] = [:]

  /// Identities by age, from ``oldest`` on; may name one that was run again later.
  private var order: [String] = []
  private var oldest = 0

  subscript(id: String) -> Entry? { entries[id] }

  mutating func note(_ id: String, _ entry: Entry) {
    entries[id] = entry
    order.append(id)
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
    let entry = Entry(
      seq: record.seq, version: record.version, time: record.time, call: call, value: meta.value)
    note(id, entry)
  }

  /// Forgets the commands whose events are lost.
  mutating func discard(after seq: UInt64) {
    let lost = entries.filter { $0.value.seq > seq }.keys
    for id in lost { entries[id] = nil }
    order.removeAll { entries[$0] == nil }
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
