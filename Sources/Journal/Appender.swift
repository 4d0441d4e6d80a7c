internal import Signals

/// Makes records of drafts: gives positions, versions and times.
///
/// Shared by the stores.
package struct Appender {
  /// The last position that was given.
  package private(set) var last: UInt64

  /// The last position that is durable.
  package private(set) var durable: UInt64

  /// The last position whose unit is sealed: it cannot be taken back.
  package private(set) var sealed: UInt64

  /// Where each stream ends, with what is appended.
  package private(set) var heads = StreamHeads()

  /// The time of the last event.
  package private(set) var time: Int64

  /// What each record that is not durable yet has changed, in order: a head before it.
  private var before = Queue<(seq: UInt64, stream: String, head: Head)>()

  /// - Parameters:
  ///   - last: The last position there is.
  ///   - time: The time of the last event there is.
  package init(last: UInt64, time: Int64) {
    self.last = last
    durable = last
    sealed = last
    self.time = time
  }

  /// Tells where the streams end, before the first append.
  package mutating func start(with heads: StreamHeads) {
    precondition(last == durable, "heads are told after an append")
    self.heads = heads
  }

  /// The record that a draft becomes.
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

  /// Changes by how many bytes a stream is charged because of the event that was appended last.
  package mutating func grow(_ stream: String, by growth: Int) {
    before.append((last, stream, heads[stream]))
    heads.grow(stream, by: growth)
  }

  /// Ends a unit.
  package mutating func seal() {
    sealed = last
  }

  /// Takes back what was appended since the last unit was sealed.
  package mutating func takeBack() {
    undo(to: sealed)
  }

  /// Notes how far the records are durable.
  package mutating func commit(upTo seq: UInt64) {
    while let first = before.first, first.seq <= seq { _ = before.popFirst() }
    durable = seq
  }

  /// Takes back all that is not durable.
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
