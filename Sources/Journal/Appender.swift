/// Makes records of drafts: gives positions, versions and times. Shared by the stores.
package struct Appender {
  /// The last position that was given.
  package private(set) var last: UInt64

  /// The last position that is durable.
  package private(set) var durable: UInt64

  /// Where each stream ends, with what is appended.
  package private(set) var heads = StreamHeads()

  /// The time of the last event.
  package private(set) var time: Int64

  /// For each record that is not durable yet, in order, the head of its stream before it.
  private var before: [(stream: String, head: Head)] = []
  private var settled = 0

  /// - Parameters:
  ///   - last: The last position there is.
  ///   - time: The time of the last event there is.
  package init(last: UInt64, time: Int64) {
    self.last = last
    durable = last
    self.time = time
  }

  /// Tells where the streams end, before the first append.
  package mutating func start(with heads: StreamHeads) {
    precondition(last == durable, "heads are told after an append")
    self.heads = heads
  }

  /// Appends the records that drafts become.
  package mutating func append(_ drafts: [Draft], at time: Int64, to records: inout [Record]) {
    precondition(time >= self.time, "time goes back")
    self.time = time
    for draft in drafts {
      last += 1
      let head = heads.advance(draft.stream, to: last)
      before.append((draft.stream, head))
      records.append(
        Record(
          seq: last, time: time, version: head.version + 1, previous: head.seq, draft: draft))
    }
  }

  /// Notes how far the records are durable.
  package mutating func commit(upTo seq: UInt64) {
    settled += Int(seq - durable)
    durable = seq
    if settled == before.count {
      before.removeAll(keepingCapacity: before.count <= 4096)
      settled = 0
    }
  }

  /// Takes back all that is not durable.
  package mutating func reject() {
    for (stream, head) in before[settled...].reversed() { heads.restore(stream, to: head) }
    before = []
    settled = 0
    last = durable
  }
}
