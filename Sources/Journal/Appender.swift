package import Model
internal import Signals

/// Assigns positions, versions and times to events.
///
/// All event stores use it. A class, because each event changes it.
package final class Appender {
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

  /// The head of its stream before each pending event, in order, for rolling back.
  private var before = Queue<(seq: UInt64, stream: Int, head: Head)>(keeping: 4096)

  /// Streams that may have no events any more.
  private var emptied: ContiguousArray<Int> = []

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
  package func start(with heads: StreamHeads) {
    precondition(last == durable, "heads are set after an append")
    self.heads = heads
  }

  /// Appends an event to a stream and returns its place.
  ///
  /// - Parameters:
  ///   - user: The uid charged for the state that the stream keeps.
  ///   - growth: The bytes to add to the charge of the stream; may be negative.
  package func append(
    to stream: Int, in names: Names, by user: UInt32, growing growth: Int, at time: Int64
  ) -> Appended {
    precondition(time >= self.time, "time goes back")
    self.time = time
    last += 1
    let (head, after) = heads.advance(stream, in: names, to: last, by: user, growth: growth)
    if head.version == 0 { names.hold(stream, by: .stream) }
    before.append((last, stream, head))
    return Appended(
      seq: last, version: after.version, previous: head.seq,
      isBare: StreamHeads.isBare(after.charge, nameBytes: names.byteCount(of: stream)))
  }

  /// Returns the bytes of state that a stream is charged for besides its name; `nil` if it is not
  /// charged.
  package func chargedSize(of stream: Int, in names: Names) -> Int? {
    heads.chargedSize(of: stream, nameBytes: names.byteCount(of: stream))
  }

  /// Adds to the bytes charged to a stream because of the last appended event.
  ///
  /// - Returns: Whether it is charged for its name alone now.
  package func grow(_ stream: Int, in names: Names, by growth: Int, for user: UInt32) -> Bool {
    before.append((last, stream, heads[stream]))
    return StreamHeads.isBare(
      charge(stream, in: names, by: growth, for: user), nameBytes: names.byteCount(of: stream))
  }

  /// Adds to the bytes charged to a stream, whose name is kept while it has a charge.
  private func charge(
    _ stream: Int, in names: Names, by growth: Int, for user: UInt32
  ) -> Charge {
    let charge = heads.grow(stream, in: names, by: growth, for: user)
    if charge.bytes > 0 { names.hold(stream, by: .stream) }
    return charge
  }

  /// Adds to the bytes charged to a stream, because the rules of its state have changed.
  ///
  /// It is no effect of an event, and is not undone with one.
  package func remeasure(_ stream: Int, in names: Names, by growth: Int, isEmpty: Bool) {
    guard !isEmpty else { return heads.release(stream, at: last) }
    guard growth != 0, names.isHeld(stream, by: .stream) else { return }
    heads.grow(stream, in: names, by: growth, for: heads[stream].charge.user)
    for i in 0..<before.count where before[i].stream == stream && before[i].head.charge.bytes > 0 {
      let bytes = Int(before[i].head.charge.bytes) + growth
      before[i].head.charge.bytes = UInt32(clamping: bytes)
    }
  }

  /// Charges nobody for a stream that has no state after the last appended event.
  package func release(_ stream: Int) {
    before.append((last, stream, heads[stream]))
    heads.release(stream, at: last)
  }

  /// Returns the position of the last event of a stream; 0 if it has none.
  ///
  /// A copy of ``heads`` would count references.
  package func lastPosition(of stream: Int) -> UInt64 { heads[stream].seq }

  /// The bytes charged to all users together.
  package var chargedTotal: Int { heads.usage.total }

  /// Returns the bytes charged to all users and to one.
  package func charges(of user: UInt32) -> StateUsage.Charges { heads.usage.charges(of: user) }

  /// Moves on to a durable event of another appender.
  ///
  /// - Parameters:
  ///   - record: The event.
  ///   - stream: The number of its stream.
  ///   - user: The user charged for the event.
  ///   - growth: The bytes to add to the charge of the stream.
  package func follow(
    _ record: Record, to stream: Int, in names: Names, by user: UInt32, growing growth: Int
  ) {
    precondition(before.isEmpty, "another appender's event between own ones")
    var (former, head) = heads.advance(
      stream, in: names, to: record.seq, by: user, growth: growth)
    if former.version == 0 { names.hold(stream, by: .stream) }
    // The other appender may remember a stream that this one has forgotten.
    if head.version != record.version {
      head.version = record.version
      heads.restore(stream, to: head)
    }
    (last, durable, sealed) = (record.seq, record.seq, record.seq)
    time = max(time, record.time)
  }

  /// Adds to the bytes charged to a stream because of another appender's last event.
  package func followGrowth(of stream: Int, in names: Names, by growth: Int, for user: UInt32) {
    _ = charge(stream, in: names, by: growth, for: user)
  }

  /// Charges nobody for a stream that has no state after another appender's last event.
  package func followRelease(of stream: Int) { heads.release(stream, at: last) }

  /// Ends the open unit.
  package func seal() {
    sealed = last
  }

  /// Rolls back everything appended since the last sealed unit.
  package func rollBackUnsealed() {
    undo(to: sealed)
  }

  /// Marks the events up to a position as durable.
  package func commit(upTo seq: UInt64) {
    while let first = before.first, first.seq <= seq { _ = before.popFirst() }
    durable = seq
  }

  /// Rolls back all events that are not durable.
  package func reject() {
    undo(to: durable)
    sealed = durable
  }

  /// Drops the names of streams that have no events any more, because they were rolled back, and of
  /// old streams without state.
  ///
  /// - Parameter seq: The last position that the services have applied. It is before ``durable``
  ///   while they apply a batch.
  package func dropEmptyStreams(upTo seq: UInt64, in names: Names) {
    if !emptied.isEmpty {
      for stream in emptied where heads[stream] == .none { names.drop(stream, by: .stream) }
      emptied = []
    }
    heads.forgetReleased(upTo: seq, in: names)
  }

  /// Returns a function for the heads without the events that are not durable, on any thread.
  package var durableHeads: @Sendable () -> StreamHeads {
    { [heads, before, durable] in
      var heads = heads
      for change in before.reversed() where change.seq > durable {
        heads.restore(change.stream, to: change.head)
      }
      return heads
    }
  }

  private func undo(to seq: UInt64) {
    while let change = before.last, change.seq > seq {
      heads.restore(change.stream, to: change.head)
      if change.head.version == 0 { emptied.append(change.stream) }
      _ = before.popLast()
    }
    last = min(last, seq)
  }
}

/// The place of an appended event in the journal and in its stream.
@usableFromInline
package struct Appended: Equatable, Sendable {
  /// See ``Record/seq``.
  @usableFromInline
  package let seq: UInt64

  /// See ``Record/version``.
  @usableFromInline
  package let version: UInt64

  /// See ``Record/previous``.
  package let previous: UInt64

  /// Whether the stream is charged for its name alone.
  @usableFromInline
  package let isBare: Bool

  package init(seq: UInt64, version: UInt64, previous: UInt64, isBare: Bool = false) {
    (self.seq, self.version, self.previous, self.isBare) = (seq, version, previous, isBare)
  }
}
