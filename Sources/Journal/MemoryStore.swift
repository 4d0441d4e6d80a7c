package import Signals

/// An event store that forgets when it is released.
///
/// What is appended becomes durable when ``commit()`` is called, and readings happen when
/// ``read()`` is, so a test decides when.
package final class MemoryStore: EventStore {
  package let epoch: String
  private let clock: () -> Int64
  private var kept = Kept()
  private var appender = Appender(last: 0, time: 0)
  private var pending: [Record] = []
  private var readings: [(_ fault: JournalError?) -> Void] = []
  private let committedSubject = PassthroughSubject<[Record], JournalError>()
  private let rejectedSubject = PassthroughSubject<JournalError, Never>()
  package private(set) var refusal: JournalError?

  /// - Parameter clock: The clock, in microseconds since 1970.
  package init(epoch: String = "memory", clock: @escaping () -> Int64 = { 0 }) {
    self.epoch = epoch
    self.clock = clock
  }

  package var first: UInt64 { 1 }
  package var last: UInt64 { appender.last }
  package var durable: UInt64 { appender.durable }
  package var now: Int64 { max(appender.time, clock()) }
  package var committed: Signal<[Record], JournalError> { committedSubject.toSignal() }
  package var rejected: Signal<JournalError, Never> { rejectedSubject.toSignal() }

  package func append(_ draft: Draft, at time: Int64) -> Record {
    precondition(refusal == nil, "appended to a journal that takes nothing")
    let record = appender.append(draft, at: time)
    pending.append(record)
    return record
  }

  package func seal(meta: String?) {
    if let meta, let last = pending.last { pending[pending.count - 1] = last.with(meta: meta) }
    appender.seal()
  }

  package func takeBack() {
    pending.removeLast(Int(appender.last - appender.sealed))
    appender.takeBack()
  }

  package func replay(after seq: UInt64, _ body: ([Record]) -> Void) {
    body(kept.records(after: seq, limit: .max))
  }

  package func start(with heads: StreamHeads) { appender.start(with: heads) }
  package var heads: StreamHeads { appender.heads }

  package func snapshot(of service: String) -> Snapshot? {
    kept.snapshot(of: service, upTo: durable)
  }

  package func head(of stream: String) -> Head { appender.heads[stream] }

  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    Signal { [self] observer in
      readings.append { [self] fault in
        guard !observer.isDisposed else { return }
        do throws(JournalError) {
          if let fault { throw fault }
          observer.receive(try job(kept))
          observer.complete()
        } catch {
          observer.fail(error)
        }
      }
      return NonDisposable.instance
    }
  }

  package func save(_ snapshot: Snapshot) {
    kept.snapshots.append(snapshot)
  }

  // MARK: What a test decides

  /// Makes what was appended durable, or as many records of it, as one write.
  package func commit(_ count: Int = .max) {
    let records = Array(pending.prefix(count))
    pending.removeFirst(records.count)
    guard let last = records.last else { return }
    kept.records += records
    appender.commit(upTo: last.seq)
    committedSubject.send(records)
  }

  /// Loses all that was appended and is not durable, as a full disk would.
  package func reject(_ error: JournalError) {
    pending = []
    appender.reject()
    rejectedSubject.send(error)
  }

  /// Fails for ever, as a disk whose writes cannot be trusted would.
  package func fail(_ error: JournalError) {
    refusal = error
    pending = []
    appender.reject()
    committedSubject.on(.failed(error))
  }

  /// Runs the readings that were asked for.
  package func read() {
    let readings = readings
    self.readings = []
    for reading in readings { reading(nil) }
  }

  /// Fails the readings that were asked for.
  package func failReadings(_ error: JournalError) {
    let readings = readings
    self.readings = []
    for reading in readings { reading(error) }
  }
}

/// What a ``MemoryStore`` keeps.
private struct Kept: JournalReader, Sendable {
  var records: [Record] = []
  var snapshots: [Snapshot] = []

  func records(after seq: UInt64, limit: Int) -> [Record] {
    Array(records.dropFirst(Int(clamping: seq)).prefix(limit))
  }

  func records(ofStream stream: String, from seq: UInt64, limit: Int) -> [Record] {
    Array(
      records.prefix(Int(clamping: seq)).reversed().lazy.filter { $0.stream == stream }.prefix(
        limit))
  }

  func snapshot(of service: String, upTo seq: UInt64) -> Snapshot? {
    snapshots.filter { $0.service == service && $0.seq <= seq }.max { $0.seq < $1.seq }
  }

  func position(at time: Int64) -> UInt64 {
    records.last { $0.time <= time }?.seq ?? 0
  }

  func bounds() -> (first: UInt64, last: UInt64) { (1, UInt64(records.count)) }
}
