package import JSON
package import Journal
package import Signals

/// The services of a daemon over one journal: lets them run commands and tells them what is durable.
package final class ServiceHost {
  /// Everything that has become durable, after the services have taken it in; one write at a time.
  let committed = PassthroughSubject<[Record], Never>()

  /// How far the journal is durable, after the services have taken it in: once for each write.
  package var progress: Signal<UInt64, Never> { committed.map { $0[$0.count - 1].seq } }

  /// What was recorded and not durable is lost, and why.
  package let rejected = PassthroughSubject<JournalFault, Never>()

  /// The journal is at its end: a write has failed in a way that cannot be trusted again.
  package let failed = PassthroughSubject<JournalFault, Never>()

  /// Told when a snapshot could not be made.
  package var onSnapshotFailure: (JournalFault) -> Void {
    get { snapshotting.onFailure }
    set { snapshotting.onFailure = newValue }
  }

  private let store: any EventStore
  private var ledgers: [LedgerLink] = []
  private let coder = EventCoder()
  private let bag = DisposeBag()

  /// The commands that were run; saved with the snapshots.
  private var window = CommandWindow()
  private var refused = RefusedCommands()
  private let snapshotting: Snapshotting

  /// Which ledger has recorded what is not durable yet, in order.
  private var recorders = Queue<(ledger: Int, bytes: Int)>()

  /// The command that runs now.
  private var running: (command: Command, meta: String, time: Int64)?

  /// The last record of it.
  private var lastRecord: Record?

  /// The first stream of it in which its caller may not record events.
  private var deniedStream: String?
  private var metas = MetaTexts()

  /// - Parameter snapshotEvery: After how many events the state is saved.
  package init(store: any EventStore, snapshotEvery: UInt64 = 100_000) {
    self.store = store
    snapshotting = Snapshotting(store: store, every: snapshotEvery)
  }

  // MARK: Positions

  package var epoch: String { store.epoch }

  /// The first position that is kept.
  package var first: UInt64 { store.first }

  /// The last position that was given; ``durable`` when the journal takes nothing, because what is
  /// behind it then, as in a journal with a damaged event, never comes.
  package var last: UInt64 { store.refusal == nil ? store.last : durable }

  /// The last position that is durable and taken in by the services.
  package private(set) var durable: UInt64 = 0

  /// Whether so much is recorded and not durable yet that commands should wait.
  package var isBehind: Bool {
    waitingBytes > Self.maxWaitingBytes || recorders.count > Self.maxWaitingEvents
  }

  private static let maxWaitingBytes = 32 << 20
  private static let maxWaitingEvents = 65_536

  /// Bytes of the events that are recorded and not durable.
  private var waitingBytes = 0

  /// Why nothing can be recorded; `nil` when it can.
  package var refusal: JournalFault? { store.refusal.map(JournalFault.init) }

  /// How many events a stream has, with all that was recorded.
  package func version(of stream: String) -> UInt64 { store.head(of: stream).version }

  func head(of stream: String) -> Head { store.head(of: stream) }

  /// The time of the last event, or of the start; `nil` while there is none.
  var lastTime: Int64? { store.last == 0 ? nil : store.lastTime }

  /// The time that an event would have now.
  var now: Int64 { store.now }

  /// See ``EventStore/ageTime``.
  var ageTime: Int64? {
    get { store.ageTime }
    set { if let newValue { store.setAgeTime(newValue) } }
  }

  // MARK: Start

  /// Takes a ledger in and returns its number.
  func add(_ ledger: LedgerLink) -> Int {
    precondition(
      self.ledger(ledger.service) == nil && ledger.service != JournalFold.service,
      "two services are called \(ledger.service)")
    ledgers.append(ledger)
    return ledgers.count - 1
  }

  /// Brings the services to where the journal is, and follows it from there.
  ///
  /// - Parameter onProgress: Called now and then with the position that was reached.
  /// - Throws: ``JournalFault`` when the journal does not read back; the services are at the last
  ///   record before the fault then, and follow nothing.
  package func start(onProgress: (UInt64) -> Void = { _ in }) throws(JournalFault) {
    do throws(JournalError) {
      try replay(onProgress)
    } catch {
      throw JournalFault(error)
    }
    follow()
  }

  private func replay(_ onProgress: (UInt64) -> Void) throws(JournalError) {
    let replay = try Replay(ledgers: ledgers, store: store)
    defer {
      durable = replay.position
      for ledger in ledgers { ledger.finishReplay() }
    }
    try replay.run(onProgress: onProgress)
    window = replay.journal.window
    store.start(with: replay.journal.heads)
    snapshotting.start(ledgers: ledgers, from: replay.oldest)
    snapshotting.advance(to: replay.position)
  }

  private func follow() {
    store.committed.observe { [unowned self] event in
      switch event {
      case .next(let records): commit(records)
      case .failed(let error): fail(error)
      case .completed: break
      }
    }
    .dispose(in: bag)
    store.rejected.observeNext { [unowned self] in reject($0) }.dispose(in: bag)
  }

  // MARK: Commands

  /// Runs a method of a service as a command: all that it records is one unit, or nothing is.
  ///
  /// - Returns: What is to be answered once ``durable`` has reached ``last``.
  /// - Throws: ``Refusal``; to be answered then as well, because what the command was checked against
  ///   may not be durable yet.
  package func perform(
    _ command: Command, _ body: () throws -> JSONText?
  ) throws(Refusal) -> Accepted {
    if let done = try repetition(of: command) { return done }
    if let error = try refused.refusal(of: command) { throw .service(error) }
    if let refusal { throw .journal(refusal) }
    for (stream, expected) in command.expectations {
      let actual = store.head(of: stream).version
      guard expected.holds(at: actual) else {
        throw .conflict(stream: stream, expected: expected, actual: actual)
      }
    }
    precondition(running == nil, "a command runs within a command")
    running = (command, metas.text(command.method, command.caller), store.now)
    lastRecord = nil
    deniedStream = nil
    defer { running = nil }
    do {
      let value = try body()
      try checkRights()
      return seal(command, value: value)
    } catch {
      takeBack()
      switch error {
      case let refusal as Refusal: throw refusal
      case let error as any ServiceError:
        // Who has not said who it is yet may ask the same again.
        if error.kind != .rejected(reason: "not_logged_in") { refused.note(command, error) }
        throw .service(error)
      default: throw .unexpected(detail: "\(command.method): \(error)")
      }
    }
  }

  /// Whether a command runs now.
  package var isPerforming: Bool { running != nil }

  /// - Throws: ``Refusal`` when the command that runs has recorded what it may not.
  package func checkRights() throws(Refusal) {
    if let deniedStream { throw .denied(stream: deniedStream) }
  }

  /// The answer of a command that was run before; `nil` when it was not.
  package func repetition(of command: Command) throws(Refusal) -> Accepted? {
    guard let id = command.identity, let entry = window[id] else { return nil }
    guard entry.call == command.fingerprint else {
      throw .reused(seq: entry.hasRecorded ? entry.seq : nil)
    }
    guard entry.hasRecorded else { return Accepted(value: entry.value, isReplayed: true) }
    var done = Accepted(
      value: entry.value, seq: entry.seq, version: entry.version, isReplayed: true,
      isValueInJournal: entry.isInJournal)
    done.isDiskAwaited = command.waitsForDisk
    return done
  }

  /// Ends what a command has recorded.
  private func seal(_ command: Command, value: JSONText?) -> Accepted {
    guard let record = lastRecord else {
      noteUnrecorded(command, value)
      return Accepted(value: value)
    }
    lastRecord = nil
    if command.waitsForDisk { store.requireDisk() }
    guard let id = command.identity else {
      store.seal(meta: nil)
      return Accepted(value: value, seq: record.seq, version: record.version)
    }
    // With the last event of a command with an identity it is kept what was answered.
    let call = command.fingerprint
    let caller = command.caller
    let meta = Meta(
      uid: caller.uid, pid: caller.pid, method: command.method, call: call, value: value)
    store.seal(meta: coder.text(meta).text)
    window.note(
      id,
      .init(
        seq: record.seq, version: record.version, time: record.time, call: call, value: value))
    return Accepted(value: value, seq: record.seq, version: record.version)
  }

  /// Remembers the answer of a command that recorded nothing, in memory only.
  ///
  /// A long one is not: it could not be left to the journal.
  private func noteUnrecorded(_ command: Command, _ value: JSONText?) {
    guard let id = command.identity, let running, !CommandWindow.isLong(value) else { return }
    let call = command.fingerprint
    window.note(
      id, .init(seq: store.last, version: 0, time: running.time, call: call, value: value))
  }

  /// Undoes what a command had recorded when it failed.
  private func takeBack() {
    guard let record = lastRecord else { return }
    lastRecord = nil
    store.takeBack()
    var touched: Set<Int> = []
    for _ in store.last..<record.seq {
      guard let (ledger, bytes) = recorders.popLast() else { break }
      waitingBytes -= bytes
      touched.insert(ledger)
    }
    for ledger in touched { ledgers[ledger].discard(store.last) }
  }

  /// Records an event of the command that runs now.
  func record(
    _ data: JSONText, type: String, in stream: String, by ledger: Int
  ) -> Record {
    guard let running else { preconditionFailure("an event is recorded outside of a command") }
    let draft = Draft(
      stream: stream, type: type, data: data.text, command: running.command.id,
      meta: running.meta)
    if let mayRecord = running.command.mayRecord, deniedStream == nil, !mayRecord(stream) {
      deniedStream = stream  // and taken back with all the others when the command is over
    }
    let record = store.append(draft, at: running.time)
    lastRecord = record
    recorders.append((ledger, record.size))
    waitingBytes += record.size
    return record
  }

  // MARK: What the journal tells

  private func commit(_ records: [Record]) {
    for record in records {
      durable = record.seq
      if let (ledger, bytes) = recorders.popFirst() {
        ledgers[ledger].commit(record)
        waitingBytes -= bytes
      } else {
        ledger(record.service)?.commit(record)
      }
    }
    window.settle(upTo: durable)
    committed.send(records)
    snapshotting.advance(to: durable)
  }

  private func reject(_ error: JournalError) {
    forget()
    rejected.send(JournalFault(error))
  }

  private func fail(_ error: JournalError) {
    forget()
    failed.send(JournalFault(error))
  }

  private func forget() {
    recorders = Queue()
    waitingBytes = 0
    window.discard(after: store.durable)
    refused.removeAll()
    for ledger in ledgers { ledger.discard(store.durable) }
  }

  // MARK: What goes

  /// What makes the folds of all services, and of what the host knows.
  var makeFolds: [String: @Sendable () -> any Fold] { snapshotting.makeFolds }

  /// Keeps the state as of a position; emits once it is kept.
  func keepSnapshots(at seq: UInt64) -> Signal<UInt64, JournalFault> {
    snapshotting.keep(at: seq)
  }

  /// See ``EventStore/remove(_:)``.
  func remove(_ removal: Removal) {
    store.remove(removal)
  }

  var removed: Signal<Result<RemovalReport, JournalError>, Never> { store.removed }

  // MARK: The past

  /// How a value of the past is found; `nil` for a source of no service.
  func past(of source: String, at seq: UInt64) -> Past? {
    guard let ledger = ledger(String(source.prefix { $0 != "/" })) else { return nil }
    return Past(
      makeFold: ledger.makeFold, service: ledger.service, source: source,
      head: store.head(of: source).seq, seq: seq)
  }

  /// The forms that the events of services have had, of those where any has changed.
  private(set) lazy var eventForms: [String: EventForms] = {
    var forms: [String: EventForms] = [:]
    for ledger in ledgers { forms[ledger.service] = ledger.makeFold().forms }
    return forms.filter { !$0.value.isEmpty }
  }()

  /// See ``EventStore/reachDisk()``.
  func reachDisk() -> Signal<Void, JournalError> { store.reachDisk() }

  func ledger(_ service: String) -> LedgerLink? { ledgers.first { $0.service == service } }

  /// Reads the journal away from the loop; see ``EventStore/reading(_:_:)``.
  func readingStore<Result: Sendable>(
    _ pace: ReadingPace,
    _ job: @escaping @Sendable (any JournalReader) throws(JournalError) -> Result
  ) -> Signal<Result, JournalError> {
    store.reading(pace, job)
  }

  /// Saves the state as it is in memory, so that the next start has nothing to replay.
  ///
  /// For the end: the caller waits while it is written as text. Nothing is saved while something is
  /// not durable yet.
  package func saveSnapshots() {
    guard durable > snapshotting.saved, durable == store.last else { return }
    for ledger in ledgers { store.save(ledger.snapshot(durable)) }
    store.save(JournalFold(store.heads, window.kept).snapshot(at: durable))
  }
}
