/// Where each stream ends, kept in memory: an index on disk would cost every append dearly.
package struct StreamHeads: Sendable {
  private var heads: [String: Head] = [:]

  /// What all streams are charged together.
  package private(set) var usage = StateUsage()

  package init() {}

  package var count: Int { heads.count }

  /// The head of a stream; ``Head/none`` when it has no events.
  package subscript(stream: String) -> Head {
    heads[stream] ?? .none
  }

  /// Bytes that a stream costs by itself, beside those of its name.
  private static let baseBytes = 128

  /// Makes an event the last of its stream.
  ///
  /// - Parameters:
  ///   - user: Who is charged for the stream from now on.
  ///   - growth: By how many bytes its charge grows.
  /// - Returns: The head before.
  package mutating func advance(
    _ stream: String, to seq: UInt64, by user: UInt32 = Charge.nobody, growth: Int = 0
  ) -> Head {
    // To find the slot once is half the work of finding it to read and again to write.
    guard let slot = heads.index(forKey: stream) else {
      let charge = Charge(user: user, bytes: Self.bytes(of: stream, with: growth))
      heads[stream] = Head(seq: seq, version: 1, charge: charge)
      usage.change(.none, to: charge)
      return .none
    }
    let before = heads.values[slot]
    heads.values[slot].seq = seq
    heads.values[slot].version += 1
    if growth != 0 || before.charge.user != user {
      let charge = Charge(user: user, bytes: before.charge.bytes.grown(by: growth))
      heads.values[slot].charge = charge
      usage.change(before.charge, to: charge)
    }
    return before
  }

  private static func bytes(of stream: String, with values: Int) -> UInt32 {
    UInt32(clamping: baseBytes + stream.utf8.count + values)
  }

  /// Changes by how many bytes a stream is charged.
  package mutating func grow(_ stream: String, by growth: Int) {
    guard let slot = heads.index(forKey: stream) else { return }
    let before = heads.values[slot].charge
    heads.values[slot].charge.bytes = before.bytes.grown(by: growth)
    usage.change(before, to: heads.values[slot].charge)
  }

  /// Takes over what a record says of its stream.
  ///
  /// - Parameter user: Who recorded it.
  package mutating func note(_ record: Record, by user: UInt32 = Charge.nobody) {
    var head = heads[record.stream] ?? .none
    (head.seq, head.version) = (record.seq, record.version)
    head.charge.user = user
    heads[record.stream] = head
  }

  /// Finds out what each stream is to be charged, once all records are noted.
  ///
  /// - Parameter bytes: What is kept because of a stream.
  package mutating func measure(_ bytes: (_ stream: String) -> Int) {
    usage = StateUsage()
    for slot in heads.indices {
      let stream = heads.keys[slot]
      heads.values[slot].charge.bytes = Self.bytes(of: stream, with: bytes(stream))
      usage.change(.none, to: heads.values[slot].charge)
    }
  }

  /// Sets a head, or forgets the stream.
  package mutating func restore(_ stream: String, to head: Head) {
    usage.change(heads[stream]?.charge ?? .none, to: head.charge)
    heads[stream] = head == .none ? nil : head
  }

  /// Calls `body` with each stream, in no order.
  package func forEach(_ body: (String, Head) -> Void) {
    for (stream, head) in heads { body(stream, head) }
  }

  package mutating func reserveCapacity(_ count: Int) {
    heads.reserveCapacity(count)
  }
}

extension UInt32 {
  fileprivate func grown(by growth: Int) -> UInt32 { UInt32(clamping: Int(self) + growth) }
}
