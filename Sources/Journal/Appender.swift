internal import Queues
internal import Facts

/// Turns drafts into records: assigns positions, versions and times.
///
/// All event stores use it.
package struct Appender: Sendable {
  /// The last position that was assigned.
  package private(set) var last: UInt64

  /// The last position that is durable.
  package private(set) var durable: UInt64

  /// The last position of a sealed unit.
  ///
  /// A sealed unit cannot be taken back.
  package private(set) var sealed: UInt64

  /// The head of each stream, including appended events that are not durable yet.
  package private(set) var heads = StreamHeads()

  /// The time of the last event.
  package private(set) var time: Int64

  /// The head of its stream before each pending record, in order, for rolling back.
  private var before = Queue<(seq: UInt64, stream: String, head: Head)>()

  /// - Parameters:
  ///   - last: The last position in the journal.
  ///   - time: The time of the last event in the journal.
  package init(last: UInt64, time: Int64) {
    self.last = last
    durable = last
    sealed = last
    self.time = time
  }

  /// Sets the stream heads; called once, before the first append.
  package mutating func start(with heads: StreamHeads) {
    precondition(last == durable, "heads are set after an append")
    self.heads = heads
  }

  /// Appends a draft and returns its record.
  package mutating func append(_ draft: Draft, at time: Int64) -> Record {
    precondition(time >= self.time, "time goes back")
    self.time = time
    last += 1
    let head = heads.advance(
      draft.stream, to: last, by: draft.user, growth: draft.growth)
    before.append((last, draft.stream, head))
    return Record(
      seq: last, time: time, version: head.version + 1, previous: head.seq, stream: draft.stream,
      type: draft.type, data: draft.data, command: draft.command, meta: draft.meta)
  }

  /// Adds to the bytes charged to a stream because of the last appended event.
  package mutating func grow(_ stream: String, by growth: Int, for user: UInt32) {
    before.append((last, stream, heads[stream]))
    heads.grow(stream, by: growth, for: user)
  }

  /// Ends the open unit.
  package mutating func seal() {
    sealed = last
  }

  /// Rolls back everything appended since the last sealed unit.
  package mutating func takeBack() {
    undo(to: sealed)
  }

  /// Marks the records up to a position as durable.
  package mutating func commit(upTo seq: UInt64) {
    while let first = before.first, first.seq <= seq { _ = before.popFirst() }
    durable = seq
  }

  /// Rolls back all records that are not durable.
  package mutating func reject() {
    undo(to: durable)
    sealed = durable
  }

  private mutating func undo(to seq: UInt64) {
    while let change = before.last, change.seq > seq {
      heads.restore(change.stream, to: change.head)
      _ = before.popLast()
    }
    last = min(last, seq)
  }
}
