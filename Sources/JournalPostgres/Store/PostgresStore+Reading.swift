internal import EventLoop
package import Facts
package import Journal
package import Signals

extension PostgresStore {
  /// The threads that wait for the server; each starts with its first job.
  struct Threads {
    let prompt: Background<any JournalReader>
    let long: Background<any JournalReader>
    let care: Background<any JournalReader>

    /// Writes snapshots, and removes events.
    let chores: Background<PostgresChores>

    init(_ settings: PostgresSettings, on loop: Loop) {
      let string = settings.string
      func reader(isLowPriority: Bool) -> Background<any JournalReader> {
        Background(on: loop, isLowPriority: isLowPriority) {
          PostgresReader(string, isServing: true)
        }
      }
      prompt = reader(isLowPriority: false)
      (long, care) = (reader(isLowPriority: true), reader(isLowPriority: true))
      chores = Background(on: loop, isLowPriority: true) { PostgresChores(string) }
    }

    var readers: [Background<any JournalReader>] { [prompt, long, care] }
  }

  // MARK: Reading

  package func replay(
    after seq: UInt64, _ body: (RecordBatch) -> Void
  ) throws(JournalError) {
    var position = seq
    while position < durable {
      // Not beyond the durable events: the ones after them are followed.
      let limit = min(UInt64(Self.replayPage), durable - position)
      let events = try start.page(after: position, limit: Int(limit))
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
    try job(start)
  }

  package func snapshot(
    of service: String, upTo seq: UInt64
  ) throws(JournalError) -> Snapshot? {
    try start.snapshot(of: service, upTo: min(seq, durable))
  }

  package func lastRemoval(of service: String) throws(JournalError) -> UInt64 {
    try start.lastRemoval(of: service, upTo: .max)
  }

  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    guard let threads else { return .failed(.unavailable(detail: "the journal is closed")) }
    let thread =
      switch pace {
      case .prompt: threads.prompt
      case .long: threads.long
      case .care: threads.care
      }
    let last = durable
    return thread.run(
      { reader, cancellation throws(JournalError) in
        let reader = StoppableReader(base: reader) { cancellation.isCancelled }
        return try job(BoundedReader(base: reader, last: last))
      },
      unavailable: { .failure(.unavailable(detail: "the journal is \($0)")) })
  }

  // MARK: Snapshots and removals

  package var saved: Signal<SnapshotReport, Never> { savedSubject.toSignal() }
  package var removed: Signal<Result<RemovalReport, JournalError>, Never> {
    removedSubject.toSignal()
  }

  package func save(_ snapshot: Snapshot) {
    guard case .active(let term) = role, let threads else { return }
    waitingSnapshots += 1
    run(threads) { chores throws(JournalError) in
      try chores.save(snapshot, term: term)
    } then: { [unowned self] result in
      waitingSnapshots -= 1
      var failure: String?
      if case .failure(let error) = result { failure = "\(error)" }
      savedSubject.send(
        SnapshotReport(service: snapshot.service, seq: snapshot.seq, failure: failure))
    }
  }

  package func remove(_ removal: Removal) {
    guard case .active(let term) = role, let threads else { return }
    // A daemon that has not applied an event yet needs it.
    if let slowest = lease.head?.slowest, slowest < removal.last {
      let detail = "a following daemon has not applied the events up to \(removal.last) yet"
      return removedSubject.send(.failure(.unavailable(detail: detail)))
    }
    run(threads) { chores throws(JournalError) in
      try chores.remove(removal, term: term)
    } then: { [unowned self] result in
      if case .success(let report) = result { first = max(first, report.first) }
      removedSubject.send(result)
    }
  }

  private func run<Value: Sendable>(
    _ threads: Threads,
    _ job: @escaping @Sendable (PostgresChores) throws(JournalError) -> Value,
    then: @escaping (Result<Value, JournalError>) -> Void
  ) {
    // It ends by itself, also with the store.
    _ = threads.chores.run(
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

  /// Ends the threads and the connection.
  ///
  /// Run the loop until ``durable`` equals ``last`` before, and call ``resign()``.
  package func close() {
    let isAway = link == nil && away != nil
    disconnect()
    stopTimers()
    hosts.close()
    isClosed = true
    if refusal == nil { refusal = .readOnly(reason: "closed", outcome: .none) }
    guard let threads else { return }
    self.threads = nil
    // A thread that waits for a database which is away ends with the process.
    for reader in threads.readers { if isAway { reader.abandon() } else { reader.close() } }
    if isAway { threads.chores.abandon() } else { threads.chores.close() }
  }
}
