internal import EventLoop
package import Journal
package import Model
package import Signals

extension PostgresStore {
  // MARK: Reading

  package func replay(
    after seq: UInt64, _ body: (RecordBatch) -> Void
  ) throws(JournalError) {
    var position = seq
    while position < durable {
      // Not beyond the durable events: the ones after them are followed.
      let limit = min(UInt64(Self.replayPage), durable - position)
      let events = try readers.start.page(after: position, limit: Int(limit))
      while events.last > durable { events.removeLast(1) }
      guard !events.isEmpty else {
        throw .corrupt(seq: position + 1, detail: "it is missing")
      }
      position = events.last
      body(events)
    }
  }

  private static let replayPage = 2_000

  package func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    try job(readers.start)
  }

  package func snapshot(
    of service: String, upTo seq: UInt64
  ) throws(JournalError) -> Snapshot? {
    try readers.start.snapshot(of: service, upTo: min(seq, durable))
  }

  package func lastRemoval(of service: String) throws(JournalError) -> UInt64 {
    try readers.start.lastRemoval(of: service, upTo: .max)
  }

  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    guard let thread = readers.thread(for: pace) else {
      return .failed(.unavailable(detail: "the journal is closed"))
    }
    let last = durable
    return thread.run(
      { reader, cancellation throws(JournalError) in
        let reader = StoppableReader(base: reader) { cancellation.isCancelled }
        return try job(BoundedReader(base: reader, last: last))
      },
      unavailable: { .failure(.unavailable(detail: "the journal is \($0)")) })
  }

  package func free<Value: Sendable>(_ value: consuming Value) {
    // Whoever posts a job may hold it longer than the thread.
    let held = Lock<Value?>(value)
    readers.thread(for: .care)?.post { _ in held.withLock { $0 = nil } }
  }

  // MARK: Snapshots and removals

  package func save(_ snapshot: Snapshot) {
    guard case .active(let term) = role, let thread = readers.chores else { return }
    reports.beginSaving()
    run(on: thread) { chores throws(JournalError) in
      try chores.save(snapshot, term: term)
    } then: { [unowned self] result in
      var failure: String?
      if case .failure(let error) = result { failure = "\(error)" }
      reports.endSaving(
        SnapshotReport(service: snapshot.service, seq: snapshot.seq, failure: failure))
    }
  }

  package func remove(_ removal: Removal) {
    guard case .active(let term) = role, let thread = readers.chores else { return }
    // A daemon that has not applied an event yet needs it.
    if let slowest = lease.head?.slowest, slowest < removal.last {
      let detail = "a following daemon has not applied the events up to \(removal.last) yet"
      return reports.endRemoving(.failure(.unavailable(detail: detail)))
    }
    run(on: thread) { chores throws(JournalError) in
      try chores.remove(removal, term: term)
    } then: { [unowned self] result in
      if case .success(let report) = result { first = max(first, report.first) }
      reports.endRemoving(result)
    }
  }

  private func run<Value: Sendable>(
    on thread: Background<PostgresChores>,
    _ job: @escaping @Sendable (PostgresChores) throws(JournalError) -> Value,
    then: @escaping (Result<Value, JournalError>) -> Void
  ) {
    // It ends by itself, also with the store.
    _ = thread.run(
      { chores, _ throws(JournalError) in try job(chores) },
      unavailable: { .failure(.unavailable(detail: "the journal is \($0)")) }
    )
    .observe { event in
      switch event {
      case .next(let value): then(.success(value))
      case .failed(let error): then(.failure(error))
      case .completed: break
      }
    }
  }
}
