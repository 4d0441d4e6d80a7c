/// A fact that is kept.
///
/// An object, because it goes from hand to hand on its way to the disk and back to the services.
package final class Record: Sendable {
  /// Its place in the journal: 1, 2, 3, …, given without holes and never again.
  package let seq: UInt64

  /// Microseconds since 1970-01-01T00:00:00Z by the journal's clock; never less than the one before.
  package let time: Int64

  /// Its place in its stream, counted from 1.
  package let version: UInt64

  /// The `seq` of the event before it in its stream, which may have been removed; 0 for the first.
  package let previous: UInt64

  /// What it happened to, for example `"cells/lamp"`.
  package let stream: String

  /// Its kind, for example `"cells.set"`.
  package let type: String

  /// Its content, compact JSON text.
  package let data: String

  /// The client's identity of the command that caused it, if it gave one.
  package let command: String?

  /// Who caused it, compact JSON text.
  package let meta: String?

  package init(
    seq: UInt64, time: Int64, version: UInt64, previous: UInt64, stream: String, type: String,
    data: String, command: String?, meta: String?
  ) {
    self.seq = seq
    self.time = time
    self.version = version
    self.previous = previous
    self.stream = stream
    self.type = type
    self.data = data
    self.command = command
    self.meta = meta
  }

  /// About how many bytes it takes in memory.
  package var size: Int { 160 + stream.utf8.count + data.utf8.count }

  /// The same with another ``meta``.
  package func with(meta: String) -> Record {
    Record(
      seq: seq, time: time, version: version, previous: previous, stream: stream, type: type,
      data: data, command: command, meta: meta)
  }
}

extension Record: Equatable {
  package static func == (left: Record, right: Record) -> Bool {
    left.seq == right.seq && left.time == right.time && left.version == right.version
      && left.previous == right.previous && left.draft == right.draft
  }

  /// What is kept, apart from its place.
  package var draft: Draft {
    Draft(stream: stream, type: type, data: data, command: command, meta: meta)
  }
}

/// Where a stream ends.
package struct Head: Equatable, Sendable {
  /// The `seq` of its last event; 0 when it has none.
  package var seq: UInt64

  /// How many events it has had.
  package var version: UInt64

  /// What the services keep because of it, and who is charged for that.
  package var charge = Charge.none

  package init(seq: UInt64, version: UInt64, charge: Charge = .none) {
    self.seq = seq
    self.version = version
    self.charge = charge
  }

  /// The head of a stream without events.
  package static let none = Head(seq: 0, version: 0)
}

/// Bytes of state that follow from the events of a stream, and the user who recorded the last of them.
package struct Charge: Equatable, Sendable {
  /// The uid; ``nobody`` when it is not known.
  package var user: UInt32
  package var bytes: UInt32

  package init(user: UInt32, bytes: UInt32) {
    (self.user, self.bytes) = (user, bytes)
  }

  /// No user: `(uid_t) -1` is the uid of none.
  package static let nobody = UInt32.max
  package static let none = Charge(user: nobody, bytes: 0)
}

/// Bytes of state, of all users and of each.
package struct StateUsage: Sendable {
  package private(set) var total = 0
  private var byUser: [UInt32: Int] = [:]

  package init() {}

  package subscript(user user: UInt32) -> Int { byUser[user, default: 0] }

  /// Bytes of all users and of one.
  package struct Charges {
    package let total: Int
    package let user: Int
  }

  package func charges(of user: UInt32) -> Charges { Charges(total: total, user: self[user: user]) }

  /// The users and what they are charged, in no order.
  package var users: [(user: UInt32, bytes: Int)] { byUser.map { ($0.key, $0.value) } }

  /// What was charged one way is charged another way.
  mutating func change(_ before: Charge, to after: Charge) {
    add(-Int(before.bytes), before.user)
    add(Int(after.bytes), after.user)
  }

  private mutating func add(_ bytes: Int, _ user: UInt32) {
    guard bytes != 0 else { return }
    total += bytes
    let sum = byUser[user, default: 0] + bytes
    byUser[user] = sum == 0 ? nil : sum
  }
}
