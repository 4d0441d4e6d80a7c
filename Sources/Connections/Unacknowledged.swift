/// What a client was sent and has not acknowledged: so much of it, and no more.
struct Unacknowledged {
  private let max: Int

  /// Positions in order, the first at ``start``.
  private var seqs: [UInt64] = []
  private var start = 0

  init(max: Int) {
    self.max = max
  }

  var count: Int { seqs.count - start }

  /// How many more may be sent.
  var room: Int { max - count }

  mutating func note(_ seq: UInt64) {
    seqs.append(seq)
  }

  /// The client has done with everything up to a position.
  mutating func acknowledge(upTo seq: UInt64) {
    while start < seqs.count, seqs[start] <= seq { start += 1 }
    guard start > seqs.count / 2 else { return }
    seqs.removeFirst(start)
    start = 0
  }
}
