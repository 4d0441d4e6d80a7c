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

  /// What ``start(onProgress:)`` has found that an operator should know, a sentence each.
  package private(set) var startWarnings: [String] = []

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

  /// The first of its streams that is not called as a stream of its service may be.
  private var badStream: StreamFault?
  private var metas = MetaTexts()

  /// Who is told of events as they become durable.
  let watchers = EventWatchers()

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

  /// The last durable position of an event that is not about readers of the journal.
  package private(set) var durableNews: UInt64 = 0

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

  /// The position of the last event of a stream; 0 when it has none.
  package func lastPosition(of stream: String) -> UInt64 { store.head(of: stream).seq }

  /// Where the streams end.
  var heads: StreamHeads { store.heads }

  /// The time of the last event, or of the start; `nil` while there is none.
  var lastTime: Int64? { store.last == 0 ? nil : store.lastTime }

  /// The time that an event would have now, in microseconds since 1970.
  package var now: Int64 { store.now }

  /// See ``EventStore/note(_:)``.
  func note(_ note: JournalNote) -> String? { store.note(note) }

  /// See ``EventStore/keep(_:as:)``.
  func keep(_ text: String, as note: JournalNote) {
    if store.refusal == nil { store.keep(text, as: note) }
  }

  /// The bindings of files that lived when the daemon ended, and where each was bound, by what it is
  /// known by.
  package var filedBindings: [String: UInt64] {
    get { note(.filedBindings).flatMap { coder.value(of: JSONText(kept: $0)) } ?? [:] }
    set { keep(coder.text(newValue).text, as: .filedBindings) }
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
      durableNews = durable
      for ledger in ledgers { ledger.finishReplay() }
      startWarnings = replay.warnings + unknownWarnings
    }
    try replay.run(onProgress: onProgress)
    window = replay.journal.window
    for ledger in ledgers { ledger.finishReplay() }
    store.start(with: measured(replay.journal.heads))
    snapshotting.start(ledgers: ledgers, from: replay.oldest)
    snapshotting.advance(to: replay.position)
  }

  /// The heads of all streams with what each is charged.
  private func measured(_ heads: StreamHeads) -> StreamHeads {
    var heads = heads
    let ledgers = Dictionary(uniqueKeysWithValues: ledgers.map { (Substring($0.service), $0) })
    heads.measure { stream in
      ledgers[stream.prefix { $0 != "/" }]?.size(stream) ?? 0
    }
    return heads
  }

  /// What is to be said of events that no service knows.
  private var unknownWarnings: [String] {
    ledgers.flatMap { ledger in
      let unknown = ledger.unknown()
      return unknown.counts.sorted { $0.key < $1.key }.map { type, count in
        "\(ledger.service) goes on without \(count) events of the type \(type), which this program "
          + "does not know: from event \(unknown.first ?? 0) on no snapshots are kept of it, and "
          + "none of its events is removed"
      }
    }
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
    (deniedStream, badStream) = (nil, nil)
    let before = store.usage.charges(of: command.caller.uid)
    defer { running = nil }
    do {
      let value = try body()
      try checkRights()
      try checkQuota(since: before)
      return seal(command, value: value)
    } catch {
      takeBack()
      switch error {
      case let refusal as Refusal: throw refusal
      case let error as any ServiceError where error.isPending: throw .pending
      case let error as any ServiceError:
        // Who has not said who it is yet may ask the same again.
        if error.kind != .rejected(reason: "not_logged_in") { refused.note(command, error) }
        throw .service(error)
      default: throw .unexpected(detail: "\(command.method): \(error)")
      }
    }
  }

  /// How many bytes of state there may be.
  package var quota = StateQuota()

  /// How many there are.
  package var stateBytes: Int { store.usage.total }

  /// How many of them one user is charged.
  package func stateBytes(of user: UInt32) -> Int { store.usage[user: user] }

  /// - Throws: ``Refusal`` when the command that runs has made the state larger than it may be.
  private func checkQuota(since before: StateUsage.Charges) throws(Refusal) {
    guard let uid = running?.command.caller.uid, lastRecord != nil else { return }
    let now = store.usage.charges(of: uid)
    if now.total > max(before.total, quota.total) { throw .full(.total, max: quota.total) }
    let isOwner = owners.contains(uid)
    if now.user > max(before.user, quota.ofUser), !isOwner {
      throw .full(.ofUser, max: quota.ofUser)
    }
    if let mark = quota.mark, mark.total < now.total, mark.total >= before.total {
      filling.send(StateFilling(user: nil, bytes: now.total, max: quota.total))
    }
    if let mark = quota.mark, mark.ofUser < now.user, mark.ofUser >= before.user, !isOwner {
      filling.send(StateFilling(user: uid, bytes: now.user, max: quota.ofUser))
    }
  }

  /// The quotas that are mostly used up.
  package var fillings: [StateFilling] {
    guard let mark = quota.mark else { return [] }
    let usage = store.usage
    let users = usage.users.filter { $0.bytes > mark.ofUser && !owners.contains($0.user) }
    return
      (usage.total > mark.total
      ? [StateFilling(user: nil, bytes: usage.total, max: quota.total)] : [])
      + users.map { StateFilling(user: $0.user, bytes: $0.bytes, max: quota.ofUser) }
  }

  /// Tells when the state has become so large that there is room for little more.
  package let filling = PassthroughSubject<StateFilling, Never>()

  /// Users who have no share but all of what there may be: those who administer the daemon.
  package var owners: Set<UInt32> = [0]

  /// How many of something a user may have made, where there may be so many of all users together:
  /// half of them, so that there is room for others.
  ///
  /// - Parameter count: How many a user has made now.
  /// - Returns: The share when the user who asks has used it up; `nil` when there is room.
  func exhaustedShare(of all: Int, _ count: (_ uid: UInt32) -> Int) -> Int? {
    guard let uid = running?.command.caller.uid, !owners.contains(uid) else { return nil }
    return count(uid) < all / 2 ? nil : all / 2
  }

  /// Whether a command runs now.
  package var isPerforming: Bool { running != nil }

  /// - Throws: ``Refusal`` when the command that runs has recorded what it may not, or in a stream
  ///   that cannot be.
  package func checkRights() throws(Refusal) {
    if let badStream { throw .service(badStream) }
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
      uid: caller.uid, pid: caller.pid, method: command.method, call: String(call, radix: 16),
      value: value)
    store.seal(meta: coder.text(meta).text)
    window.note(
      id,
      .init(
        seq: record.seq, version: record.version, time: record.time, call: call,
        answer: .init(value)))
    return Accepted(value: value, seq: record.seq, version: record.version)
  }

  /// Remembers the answer of a command that recorded nothing, in memory only.
  ///
  /// A long one is not: it could not be left to the journal.
  private func noteUnrecorded(_ command: Command, _ value: JSONText?) {
    guard let id = command.identity, let running, !CommandWindow.isLong(value) else { return }
    let call = command.fingerprint
    window.note(
      id,
      .init(seq: store.last, version: 0, time: running.time, call: call, answer: .init(value)))
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
  ///
  /// - Parameter growth: By how many bytes it makes the state larger, see ``grow(_:by:)``.
  func record(
    _ data: JSONText, type: String, in stream: String, growing growth: Int, by ledger: Int
  ) -> Record {
    guard let running else { preconditionFailure("an event is recorded outside of a command") }
    var draft = Draft(
      stream: stream, type: type, data: data.text, command: running.command.id,
      meta: running.meta)
    (draft.user, draft.growth) = (running.command.caller.uid, growth)
    if let mayRecord = running.command.mayRecord, deniedStream == nil, !mayRecord(stream) {
      deniedStream = stream  // and taken back with all the others when the command is over
    }
    if badStream == nil { badStream = StreamFault(stream, of: ledgers[ledger].service) }
    let record = store.append(draft, at: running.time)
    lastRecord = record
    recorders.append((ledger, record.size))
    waitingBytes += record.size
    return record
  }

  /// Says by how many bytes the event that was recorded last changes what is kept because of a stream.
  func grow(_ stream: String, by growth: Int) {
    if growth != 0 { store.grow(stream, by: growth) }
  }

  // MARK: What the journal tells

  private func commit(_ records: [Record]) {
    for record in records {
      durable = record.seq
      if let (ledger, bytes) = recorders.popFirst() {
        ledgers[ledger].commit(record)
        if !ledgers[ledger].isAboutReaders { durableNews = record.seq }
        waitingBytes -= bytes
      } else {
        ledger(record.service)?.commit(record)
        durableNews = record.seq
      }
      if !watchers.isEmpty { watchers.send(record, eventForms) }
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

  /// The same without the services that have events which this program does not know: what those
  /// said is in the events alone.
  var keptFolds: [String: @Sendable () -> any Fold] { snapshotting.keptFolds }

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

  /// See ``EventStore/readNow(_:)``.
  func readNow<Result>(
    _ job: (any JournalReader) throws(JournalError) -> Result
  ) throws(JournalError) -> Result {
    try store.readNow(job)
  }

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
    for ledger in ledgers where ledger.unknown().first == nil {
      store.save(ledger.snapshot(durable))
    }
    store.save(JournalFold(store.heads, window).snapshot(at: durable))
  }
}
