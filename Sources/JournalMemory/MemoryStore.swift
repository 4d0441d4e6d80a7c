package import Journal
package import Model
package import Signals

/// An event store in memory, for tests.
///
/// Appended events become durable when ``commit()`` is called, and readings run when ``read()`` is
/// called.
package final class MemoryStore: EventStore {
  package let epoch: String
  private let clock: () -> Int64
  private var kept = Kept()
  package let appender: Appender
  package let names = Names()
  private var pending = RecordBatch()
  private var readings: [(pace: ReadingPace, run: (JournalError?) -> Void)] = []
  private var delegates: [Delegate] = []
  package let reports = StoreReports()
  private var removals: [Removal] = []

  /// Called for each requested removal.
  package var onRemove: (Removal) -> Void = { _ in }
  package private(set) var refusal: JournalError?
  package var isRefusing: Bool { refusal != nil }
  package private(set) var role = StoreRole.active(term: 0)

  /// The store that this one follows.
  private weak var leader: MemoryStore?
  private var followers: [Follower] = []

  private struct Follower {
    weak var store: MemoryStore?
  }

  /// - Parameter clock: The clock, in microseconds since 1970.
  package init(epoch: String = "memory", clock: @escaping () -> Int64 = { 0 }) {
    self.epoch = epoch
    self.clock = clock
    appender = Appender(last: 0, time: 0)
  }

  /// Creates a store that has events.
  ///
  /// - Parameter records: The events, in order.
  package convenience init(
    epoch: String, records: [Record], clock: @escaping () -> Int64 = { 0 }
  ) {
    var kept = Kept()
    kept.records = records
    self.init(epoch, clock, kept)
  }

  private init(_ epoch: String, _ clock: @escaping () -> Int64, _ kept: Kept) {
    (self.epoch, self.clock, self.kept) = (epoch, clock, kept)
    appender = Appender(last: kept.records.last?.seq ?? 0, time: kept.records.last?.time ?? 0)
  }

  /// Returns the journal as it is if the daemon is killed when its events are on the disk, and before it
  /// knows that.
  ///
  /// - Parameter last: The last event on the disk.
  package func killed(upTo last: UInt64 = .max) -> MemoryStore {
    var kept = kept
    kept.records += pending.records
    kept.records.removeAll { $0.seq > last }
    return MemoryStore(epoch, clock, kept)
  }

  private struct Delegate {
    weak var owner: (any EventStoreDelegate)?
  }

  /// The newest owner of the events; earlier ones receive them too.
  ///
  /// After a restart in a test, the host of the daemon before may still be there.
  package var delegate: (any EventStoreDelegate)? {
    get { delegates.last?.owner }
    set {
      delegates.removeAll { $0.owner == nil }
      if newValue != nil { delegates.append(Delegate(owner: newValue)) }
    }
  }

  private func tell(_ body: (any EventStoreDelegate) -> Void) {
    for delegate in delegates { if let owner = delegate.owner { body(owner) } }
  }

  package var first: UInt64 { kept.first }
  package var now: Int64 { max(appender.time, clock()) }

  package func append(
    to stream: Int, _ type: String, _ data: Span<UInt8>, from origin: EventOrigin,
    growing growth: Int, at time: Int64
  ) -> Appended {
    precondition(refusal == nil, "appended to a journal that takes nothing")
    let appended = appender.append(
      to: stream, in: names, by: origin.user, growing: growth, at: time)
    let names = names
    pending.append(appended, time, names[stream], type, data, origin)
    return appended
  }

  package func seal(meta: String?) {
    if let meta, !pending.isEmpty { pending.replaceMeta(meta) }
    appender.seal()
  }

  /// The number of times that the disk was required or awaited.
  package private(set) var diskRequests = 0

  package func requireDisk() { diskRequests += 1 }

  package func reachDisk() -> Signal<Void, JournalError> {
    Signal { [self] observer in
      diskRequests += 1
      observer.receive(())
      observer.complete()
      return NonDisposable.instance
    }
  }

  package func rollBackUnsealed() {
    pending.removeLast(Int(appender.last - appender.sealed))
    appender.rollBackUnsealed()
  }

  package func replay(after seq: UInt64, _ body: (RecordBatch) -> Void) {
    body(RecordBatch(kept.records(after: seq, limit: .max)))
  }

  package func snapshot(of service: String) -> Snapshot? { snapshot(of: service, upTo: .max) }

  package func snapshot(of service: String, upTo seq: UInt64) -> Snapshot? {
    kept.snapshot(of: service, upTo: min(seq, durable))
  }

  package func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    try job(kept)
  }

  package func free<Value: Sendable>(_ value: consuming Value) {}

  package func reading<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    Signal { [self] observer in
      let run = { [unowned self] (fault: JournalError?) in
        guard !observer.isDisposed else { return }
        do throws(JournalError) {
          if let fault { throw fault }
          observer.receive(try job(kept))
          observer.complete()
        } catch {
          observer.fail(error)
        }
      }
      readings.append((pace, run))
      return NonDisposable.instance
    }
  }

  /// The failure of each save from now on; `nil` for none.
  package var saveFailure: String?

  package func save(_ snapshot: Snapshot) {
    reports.beginSaving()
    if let saveFailure {
      reports.endSaving(
        SnapshotReport(service: snapshot.service, seq: snapshot.seq, failure: saveFailure))
      return
    }
    kept.snapshots.removeAll { $0.service == snapshot.service && $0.seq == snapshot.seq }
    kept.snapshots.append(snapshot)
    reports.endSaving(SnapshotReport(service: snapshot.service, seq: snapshot.seq))
  }

  package func remove(_ removal: Removal) {
    onRemove(removal)
    removals.append(removal)
  }

  package func lastRemoval(of service: String) -> UInt64 {
    kept.lastRemoval(of: service, upTo: .max)
  }

  package func keep(_ text: String, as note: JournalNote) { _ = reports.change(note, to: text) }

  // MARK: Roles

  /// Drops what is pending, and follows another store from the next position on.
  package func follow(_ leader: MemoryStore) {
    if last > durable { reject(.readOnly(reason: "superseded", outcome: .none)) }
    setRole(.following(ActiveNode(name: "leader", address: nil)))
    leave()
    self.leader = leader
    leader.followers.append(Follower(store: self))
    let missed = leader.kept.records(after: durable, limit: .max)
    if !missed.isEmpty { show(RecordBatch(missed)) }
  }

  /// Shows events as those of another daemon.
  package func show(_ events: RecordBatch) {
    kept.records += events.records
    tell { $0.store(followed: events) }
  }

  /// Becomes the active store.
  package func lead(term: UInt64) {
    leave()
    setRole(.active(term: term))
  }

  private func leave() {
    leader?.followers.removeAll { $0.store === self }
    leader = nil
  }

  private func setRole(_ role: StoreRole) {
    self.role = role
    if case .active = role {
      refusal = nil
    } else {
      refusal = .following(active: "leader", address: nil)
    }
    reports.changeRole(to: role)
  }

  // MARK: Control by tests

  /// Makes up to `count` pending records durable in one write.
  package func commit(_ count: Int = .max) {
    let all = pending.records
    let records = Array(all.prefix(count))
    guard let last = records.last else { return }
    pending = RecordBatch(all.dropFirst(count))
    kept.records += records
    appender.commit(upTo: last.seq)
    announce(RecordBatch(records))
  }

  private func announce(_ events: RecordBatch) {
    reports.addEvents(events.count)
    tell { $0.store(committed: events) }
    for follower in followers { follower.store?.show(events) }
  }

  /// Drops all pending events, as a full disk would.
  package func reject(_ error: JournalError) {
    pending = RecordBatch()
    appender.reject()
    tell { $0.store(rejected: error) }
  }

  /// Lets the pending events wait, as a database does that is away for too long.
  package func stall() { reports.stall(.interrupted) }

  /// Fails for good, as a disk does whose writes cannot be trusted.
  package func fail(_ error: JournalError) {
    refusal = error
    pending = RecordBatch()
    appender.reject()
    tell { $0.store(failed: error) }
  }

  /// Executes the requested removals, or fails them.
  ///
  /// - Parameter time: The duration of each, in nanoseconds.
  package func remove(
    failing error: JournalError? = nil, in time: (Removal) -> UInt64 = { _ in 0 }
  ) {
    let removals = removals
    self.removals = []
    for removal in removals {
      if error == nil { kept.remove(removal) }
      reports.endRemoving(
        error.map { .failure($0) }
          ?? .success(RemovalReport(first: first, nanoseconds: time(removal))))
    }
  }

  /// Drops the snapshots of a service.
  package func dropSnapshots(of service: String) {
    kept.snapshots.removeAll { $0.service == service }
  }

  /// Runs the requested readings, and the long ones that they request.
  package func read() {
    var due = readings
    readings = []
    while !due.isEmpty {
      for reading in due { reading.run(nil) }
      due = readings.filter { $0.pace == .long }
      readings.removeAll { $0.pace == .long }
    }
  }

  /// Fails the requested readings.
  package func failReadings(_ error: JournalError) {
    let readings = readings
    self.readings = []
    for reading in readings { reading.run(error) }
  }

  /// All durable events in order.
  package var records: [Record] {
    var all: [Record] = []
    replay(after: 0) { all += $0.records }
    return all
  }
}

/// The durable content of a ``MemoryStore``.
private struct Kept: JournalReader, Sendable {
  var records: [Record] = []
  var snapshots: [Snapshot] = []
  var removals: [Removal] = []

  /// Returns the number of records at or before a position.
  private func count(upTo seq: UInt64) -> Int {
    var (low, high) = (0, records.count)
    while low < high {
      let middle = (low + high) / 2
      if records[middle].seq <= seq { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func records(after seq: UInt64, limit: Int) -> [Record] {
    Array(records[count(upTo: seq)...].prefix(limit))
  }

  func records(ofStream stream: String, from seq: UInt64, limit: Int) -> [Record] {
    let stream = records[..<count(upTo: seq)].reversed().lazy.filter { $0.stream == stream }
    return Array(stream.prefix(limit))
  }

  var first: UInt64 { records.first?.seq ?? 1 }

  mutating func remove(_ removal: Removal) {
    records.removeAll { record in removal.runs.contains { $0.contains(record.seq) } }
    removals.append(removal)
  }

  func lastRemoval(of service: String, upTo seq: UInt64) -> UInt64 {
    var last: UInt64 = 0
    for removal in removals {
      guard let end = removal.services[service] else { continue }
      if end <= seq { last = max(last, end) } else if removal.first <= seq { last = max(last, seq) }
    }
    return last
  }

  func snapshot(of service: String, upTo seq: UInt64) -> Snapshot? {
    snapshots.filter { $0.service == service && $0.seq <= seq }.max { $0.seq < $1.seq }
  }

  func position(at time: Int64) -> UInt64 {
    records.last { $0.time <= time }?.seq ?? 0
  }

  func bounds() -> (first: UInt64, last: UInt64) { (first, records.last?.seq ?? 0) }
}
