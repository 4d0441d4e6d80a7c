/// A recorded event.
///
/// A class, because it is passed between many owners on its way to the disk and to the services.
package final class Record: Sendable {
  /// The position in the journal: 1, 2, 3, …, without gaps and never reused.
  package let seq: UInt64

  /// Microseconds since 1970-01-01T00:00:00Z by the journal's clock; never decreases.
  package let time: Int64

  /// The version in its stream, counted from 1.
  package let version: UInt64

  /// The `seq` of the previous event in its stream, which may have been removed; 0 for the first.
  package let previous: UInt64

  /// The stream, for example `"cells/lamp"`.
  package let stream: String

  /// The event type, for example `"cells.set"`.
  package let type: String

  /// The payload, compact JSON text.
  package let data: String

  /// The idempotency key of the command that caused it, if the client sent one.
  package let command: String?

  /// The origin, compact JSON text.
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

  /// The approximate size in memory, in bytes.
  package var size: Int { 160 + stream.utf8.count + data.utf8.count }

  /// Returns a copy with another ``meta``.
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

  /// The draft of this record, without position, time and versions.
  package var draft: Draft {
    Draft(stream: stream, type: type, data: data, command: command, meta: meta)
  }
}

/// The last event of a stream, and the charge for it.
package struct Head: Equatable, Sendable {
  /// The `seq` of the last event; 0 if there is none.
  package var seq: UInt64

  /// The number of events that were ever appended to the stream.
  package var version: UInt64

  /// The bytes of state that the stream keeps, and the user who is charged for them.
  package var charge = Charge.none

  package init(seq: UInt64, version: UInt64, charge: Charge = .none) {
    self.seq = seq
    self.version = version
    self.charge = charge
  }

  /// The head of a stream without events.
  package static let none = Head(seq: 0, version: 0)
}

/// The bytes of state that a stream keeps, and the user who recorded its last event.
package struct Charge: Equatable, Sendable {
  /// The uid; ``nobody`` if it is unknown.
  package var user: UInt32
  package var bytes: UInt32

  package init(user: UInt32, bytes: UInt32) {
    (self.user, self.bytes) = (user, bytes)
  }

  /// The value for an unknown user: `(uid_t) -1` is never a valid uid.
  package static let nobody = UInt32.max
  package static let none = Charge(user: nobody, bytes: 0)
}

/// The bytes of state, in total and per user.
package struct StateUsage: Sendable {
  package private(set) var total = 0
  private var byUser: [UInt32: Int] = [:]

  package init() {}

  package subscript(user user: UInt32) -> Int { byUser[user, default: 0] }

  /// The bytes of all users and of one user.
  package struct Charges {
    package let total: Int
    package let user: Int
  }

  package func charges(of user: UInt32) -> Charges { Charges(total: total, user: self[user: user]) }

  /// The users and their charges, unordered.
  package var users: [(user: UInt32, bytes: Int)] { byUser.map { ($0.key, $0.value) } }

  /// Replaces one charge by another.
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
