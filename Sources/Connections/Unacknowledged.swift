/// The positions that were sent and not acknowledged yet, with a maximum count.
struct Unacknowledged {
  private let max: Int

  /// The positions in order.
  ///
  /// Those before ``start`` are acknowledged.
  private var seqs: [UInt64] = []
  private var start = 0

  init(max: Int) {
    self.max = max
  }

  var count: Int { seqs.count - start }

  /// The number of entries that may still be sent.
  var room: Int { max - count }

  mutating func note(_ seq: UInt64) {
    seqs.append(seq)
  }

  /// Removes all positions up to an acknowledged one.
  mutating func acknowledge(upTo seq: UInt64) {
    while start < seqs.count, seqs[start] <= seq { start += 1 }
    guard start > seqs.count / 2 else { return }
    seqs.removeFirst(start)
    start = 0
  }
}
