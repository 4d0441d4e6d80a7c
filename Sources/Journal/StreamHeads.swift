/// Where each stream ends, kept in memory: an index on disk would cost every append dearly.
package struct StreamHeads: Sendable {
  private var heads: [String: Head] = [:]

  package init() {}

  package var count: Int { heads.count }

  /// The head of a stream; ``Head/none`` when it has no events.
  package subscript(stream: String) -> Head {
    heads[stream] ?? .none
  }

  /// Makes an event the last of its stream.
  ///
  /// - Returns: The head before.
  package mutating func advance(_ stream: String, to seq: UInt64) -> Head {
    let slot = heads.index(forKey: stream)
    guard let slot else {
      heads[stream] = Head(seq: seq, version: 1)
      return .none
    }
    let before = heads.values[slot]
    heads.values[slot] = Head(seq: seq, version: before.version + 1)
    return before
  }

  /// Takes over what a record says of its stream.
  package mutating func note(_ record: Record) {
    heads[record.stream] = Head(seq: record.seq, version: record.version)
  }

  /// Sets a head, or forgets the stream.
  package mutating func restore(_ stream: String, to head: Head) {
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
