internal import Facts

/// The head of each stream, kept in memory because an index on disk would slow every append.
package struct StreamHeads: Sendable {
  private var heads = NameMap<Head>()

  /// The bytes charged to all streams.
  package private(set) var usage = StateUsage()

  package init() {}

  package var count: Int { heads.count }

  /// Returns the head of a stream; ``Head/none`` if it has no events.
  package subscript(stream: String) -> Head {
    heads[stream] ?? .none
  }

  /// Returns the shared text of the name of a stream; `nil` if it has no events.
  package func name(_ stream: Span<UInt8>) -> String? { heads.name(stream) }

  /// The bytes that a stream costs in addition to its name and its values.
  private static let baseBytes = 256

  /// Makes an event the last one of its stream.
  ///
  /// - Parameters:
  ///   - user: The uid charged for the stream from now on, if it grows. Removing something from a
  ///     stream does not make it one's own.
  ///   - growth: The bytes to add to its charge.
  /// - Returns: The previous head.
  package mutating func advance(
    _ stream: String, to seq: UInt64, by user: UInt32 = Charge.nobody, growth: Int = 0
  ) -> Head {
    let change = heads.change(stream) { head in
      let before = head
      head.seq = seq
      head.version += 1
      if growth != 0 { head.charge.change(by: growth, for: user) }
      return (before: before, after: head.charge)
    }
    guard let change else {
      let charge = Charge(user: user, bytes: Self.bytes(of: stream, with: growth))
      heads[stream] = Head(seq: seq, version: 1, charge: charge)
      usage.change(.none, to: charge)
      return .none
    }
    if growth != 0 { usage.change(change.before.charge, to: change.after) }
    return change.before
  }

  private static func bytes(of stream: String, with values: Int) -> UInt32 {
    UInt32(clamping: baseBytes + stream.utf8.count + values)
  }

  /// Adds to the bytes charged to a stream.
  package mutating func grow(_ stream: String, by growth: Int, for user: UInt32) {
    let charges = heads.change(stream) { head in
      let before = head.charge
      head.charge.change(by: growth, for: user)
      return (before: before, after: head.charge)
    }
    if let charges { usage.change(charges.before, to: charges.after) }
  }

  /// Updates the head of a stream from a replayed record.
  ///
  /// - Parameter user: The uid that recorded it.
  package mutating func note(_ record: Record, by user: UInt32 = Charge.nobody) {
    heads.change(record.stream, initial: Head.none) { head in
      (head.seq, head.version) = (record.seq, record.version)
      head.charge.user = user
    }
  }

  /// Computes the charge of each stream, after all records were noted.
  ///
  /// - Parameter bytes: Returns the bytes of state that a stream keeps.
  package mutating func measure(_ bytes: (_ stream: String) -> Int) {
    var usage = StateUsage()
    heads.changeEach { stream, head in
      head.charge.bytes = Self.bytes(of: stream, with: bytes(stream))
      usage.change(.none, to: head.charge)
    }
    self.usage = usage
  }

  /// Forgets streams: as if they never had an event.
  package mutating func forget(_ isForgotten: (_ stream: String, _ head: Head) -> Bool) {
    var forgotten: [String] = []
    heads.forEach { if isForgotten($0, $1) { forgotten.append($0) } }
    for stream in forgotten { restore(stream, to: .none) }
  }

  /// Sets a head; removes the stream if the head is ``Head/none``.
  package mutating func restore(_ stream: String, to head: Head) {
    usage.change(heads[stream]?.charge ?? .none, to: head.charge)
    heads[stream] = head == .none ? nil : head
  }

  /// Calls `body` with each stream, unordered.
  package func forEach(_ body: (String, Head) -> Void) {
    heads.forEach(body)
  }
}

extension Charge {
  /// Adds bytes; whoever adds some is charged for all from then on.
  fileprivate mutating func change(by growth: Int, for user: UInt32) {
    bytes = UInt32(clamping: Int(bytes) + growth)
    if growth > 0 { self.user = user }
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
    if before.user == after.user {
      return add(Int(after.bytes) - Int(before.bytes), after.user)
    }
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
