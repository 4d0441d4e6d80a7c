public import JSON
public import Journal
public import Model
package import Signals
package import Wire

/// The services of a daemon over one journal.
///
/// Runs their commands and reports durable events to them.
@usableFromInline
package final class ServiceHost {
  private let signals = HostSignals()

  /// See ``HostSignals``.
  var committed: PassthroughSubject<RecordBatch, Never> { signals.committed }

  /// Emits the last durable position after each write, once the services have applied it.
  package var progress: Signal<UInt64, Never> { committed.map(\.last) }

  /// Emits the reason when recorded events that were not durable are lost.
  package var rejected: PassthroughSubject<JournalError, Never> { signals.rejected }

  /// Emits when events have waited for too long to become durable; they may still become so.
  package var stalled: Signal<JournalError, Never> { store.stalled }

  /// Emits when the journal accepts no more writes, because a write failed with an unknown
  /// outcome.
  package var failed: PassthroughSubject<JournalError, Never> { signals.failed }

  /// Called when a snapshot could not be saved.
  package var onSnapshotFailure: (JournalError) -> Void {
    get { snapshotting.onFailure }
    set { snapshotting.onFailure = newValue }
  }

  /// Warnings of ``start(onProgress:)`` for the operator, one sentence each.
  package private(set) var startWarnings: [String] = []

  let store: any EventStore
  private var registered = HostLedgers()
  var ledgers: [AnyLedger] { registered.all }

  /// The ledgers that get events of other services.
  @usableFromInline
  let routes = EventRoutes()

  private var past = PastCommands()
  private let snapshotting: Snapshotting

  private var waiting = WaitingEvents()

  @usableFromInline
  private(set) var commits = CommitState()

  /// The number of commits since the start, including the one that is being reported.
  package var commitCount: UInt64 { commits.count }

  /// Whether the events of a commit are being reported, one after another.
  package var isCommitting: Bool { commits.isCommitting }

  @usableFromInline
  private(set) var running = RunningCommand()

  /// Whether a command is running.
  package var isPerforming: Bool { running.isPerforming }

  /// The number of commands that have begun.
  package var commandCount: UInt64 { running.count }

  /// The data of the event that is being recorded.
  ///
  /// It is no part of ``running``, which may be read while the data is written.
  private var eventData = ByteBuffer()

  /// The name that ``stream(_:prefix:)`` looks up.
  ///
  /// It is written while the data of an event is.
  private var nameBuffer = ByteBuffer()

  /// The names of all streams, with a number for each; see ``EventStore/names``.
  @usableFromInline
  package let streamNames: Names

  /// The observers of durable events.
  let watchers = EventWatchers()

  private var leasing = HostLeasing()

  /// Whether leases must know what the running command writes.
  ///
  /// A property of its own, because a copy of ``leasing`` would cost each event more.
  @usableFromInline
  var isLeasing: Bool { leasing.isOn }

  /// The declared types of sources.
  @usableFromInline
  package var types: SourceTypes { signals.types }

  /// Emits after the declared types have changed.
  package var typesChanged: SafeSignal<Void> { signals.typesChanged.toSignal() }

  /// Replaces the declared types of sources, from now on.
  package func use(_ types: [DeclaredType]) {
    signals.types.use(types)
    signals.typesChanged.send(())
  }

  /// The leases; `nil` if there are none, as in most tests.
  package var leases: (any LeaseKeeper)? {
    get { leasing.keeper }
    set { leasing.keeper = newValue }
  }

  /// The lease of the running command.
  package var runningLease: String? { leasing.lease }

  /// The positions and heads of the store; here too, because each event needs them.
  let appender: Appender

  /// - Parameter snapshotEvery: The number of events between snapshots.
  package init(store: any EventStore, snapshotEvery: UInt64 = 100_000) {
    self.store = store
    appender = store.appender
    streamNames = store.names
    snapshotting = Snapshotting(store: store, every: snapshotEvery)
  }

  // MARK: Positions

  package var epoch: String { store.epoch }

  /// The first retained position.
  package var first: UInt64 { store.first }

  /// The last recorded position.
  ///
  /// Equals ``durable`` if the journal accepts no writes, because pending events then never
  /// become durable.
  package var last: UInt64 { store.isRefusing ? durable : appender.last }

  /// The last durable position that the services have applied.
  @inlinable
  package var durable: UInt64 { commits.durable }

  /// The last durable position of an event that does not record a reader's position.
  package var durableNews: UInt64 { commits.durableNews }

  /// Whether so many events are pending that new commands should wait.
  package var isBehind: Bool { waiting.areMany }

  /// Whether this daemon records, if several share the journal.
  package var isActive: Bool { if case .active = store.role { true } else { false } }

  /// The reason why nothing can be recorded; `nil` if the journal accepts writes.
  package var refusal: JournalError? { store.refusal }

  /// Returns the version of a stream, including events that are not durable yet.
  package func version(of stream: String) -> UInt64 { store.head(of: stream).version }

  func head(of stream: String) -> Head { store.head(of: stream) }

  /// Returns the stream with a name, if it has events; `nil` if it has none.
  ///
  /// No text is made of the name. A stream with events has a valid name.
  ///
  /// - Parameters:
  ///   - name: Valid UTF-8.
  ///   - prefix: What the name lacks at its beginning, for example `"cells/"`.
  package func stream(_ name: Span<UInt8>, prefix: StaticString) -> Int? {
    nameBuffer.removeAll(keepingCapacity: 4096)
    nameBuffer.append(prefix)
    nameBuffer.append(name)
    guard let number = streamNames.number(of: nameBuffer.span),
      streamNames.isHeld(number, by: .stream)
    else { return nil }
    return number
  }

  /// Returns the position of the last event of a stream; 0 if it has none.
  package func lastPosition(of stream: String) -> UInt64 { store.head(of: stream).seq }

  /// Returns the position of the last event of the stream with a number; 0 if it has none.
  @usableFromInline
  func lastPosition(of stream: Int) -> UInt64 { appender.lastPosition(of: stream) }

  /// The heads of all streams, by the number of their names.
  var heads: StreamHeads { appender.heads }

  /// The bytes of state that are charged to a user, and to all.
  func charges(of user: UInt32) -> StateUsage.Charges { appender.charges(of: user) }

  /// The time of the last event, in microseconds since 1970; `nil` if the journal is empty.
  package var lastTime: Int64? { store.last == 0 ? nil : store.lastTime }

  /// The time of an event recorded now, in microseconds since 1970.
  package var now: Int64 { store.now }

  /// See ``EventStore/note(_:)``.
  package func note(_ note: JournalNote) -> String? { store.note(note) }

  /// See ``EventStore/keep(_:as:)``.
  package func keep(_ text: String, as note: JournalNote) {
    if !store.isRefusing { store.keep(text, as: note) }
  }

  /// The bindings from files that were active when the daemon stopped, by key, with the position
  /// at which each was bound.
  package var filedBindings: [String: UInt64] {
    get { note(.filedBindings).flatMap { past.coder.value(of: JSONText(trusted: $0)) } ?? [:] }
    set { keep(past.coder.text(newValue).text, as: .filedBindings) }
  }

  // MARK: Start

  /// Whether there is a service with a name.
  package func hasService(_ name: String) -> Bool {
    ledger(name) != nil || name == JournalProjection.service
  }

  /// Returns whether a service may have events, which another program or an earlier version has
  /// recorded.
  package func mayHaveEvents(_ service: String) -> Bool {
    let list = streamNames.list
    guard list.count <= 100_000 else { return true }
    var isFound = false
    heads.forEach { stream, _ in
      let name = list[stream]
      if name.hasSameBytes(as: service.utf8.span)
        || SourceName.isBelow(name, service.utf8.span)
      {
        isFound = true
      }
    }
    return isFound
  }

  /// Returns the durable states of services, as snapshots have them.
  package func stateTexts(of services: [String]) -> [String: JSONText] {
    var texts: [String: JSONText] = [:]
    for ledger in ledgers where services.contains(ledger.service) {
      texts[ledger.service] = JSONText(trusted: ledger.snapshot()(durable).data)
    }
    return texts
  }

  /// Applies records to a new state of a service, and calls a function with the state after each of its
  /// events, until it returns `false`.
  package func fold(
    _ records: [Record], of service: String, _ body: (Record, JSONText) -> Bool
  ) {
    guard let projection = makeProjections[service]?() else { return }
    for record in records where record.service == service || projection.isOther(record) {
      projection.replay(record)
      guard body(record, JSONText(trusted: projection.snapshot(at: record.seq).data)) else {
        return
      }
    }
  }

  /// Registers a ledger and returns its number.
  ///
  /// After the start the service must not have events, or get its state by
  /// ``Ledger/replace(with:from:)``.
  func add(_ ledger: AnyLedger) -> Int {
    precondition(
      self.ledger(ledger.service) == nil && ledger.service != JournalProjection.service,
      "two services are called \(ledger.service)")
    let number = registered.add(ledger)
    if snapshotting.isStarted {
      ledger.finishReplay()
      snapshotting.add(ledger)
    }
    return number
  }

  /// Changes the projections of a service, because its state follows from its events by other rules.
  func setProjections(of number: Int, _ make: @escaping @Sendable () -> any Projection) {
    ledgers[number].makeProjection = make
    snapshotting.add(ledgers[number])
  }

  /// Returns why the events of a service that was added later could not be replayed.
  package func startFault(of service: String) -> JournalError? { ledger(service)?.startFault }

  /// Tells whether the state of a service has all of its events.
  ///
  /// If it has not, no snapshot of it is written, and none of its events is removed, nor one of
  /// the services that it folds.
  package func setComplete(_ isComplete: Bool, _ service: String) {
    guard let ledger = ledger(service) else { return }
    ledger.isComplete = isComplete
    if isComplete { ledger.startFault = nil }
    snapshotting.add(ledger)
  }

  /// Replays the journal into ledgers that were added after the replay of the others, each for itself, so that a
  /// fault is only that service's.
  ///
  /// - Returns: The position of the oldest snapshot in use.
  private func replay(added: ArraySlice<AnyLedger>) -> UInt64 {
    var oldest = UInt64.max
    for ledger in added {
      do throws(JournalError) {
        let replay = try Replay(ledgers: [ledger], store: store)
        try replay.run { _ in }
        oldest = min(oldest, replay.oldest)
        // Each replay reads the snapshot of the host again.
        startWarnings += replay.ownWarnings.filter { !startWarnings.contains($0) }
      } catch {
        startWarnings.append("\(ledger.service): \(error)")
        ledger.startFault = error
        oldest = 0
      }
      ledger.finishReplay()
    }
    return oldest
  }

  /// Brings the services to the end of the journal, then follows it.
  ///
  /// - Parameters:
  ///   - onProgress: Called repeatedly with the position reached.
  ///   - addLedgers: Called after the replay. It may add ledgers, of services that are known only by
  ///     events of others; these are then replayed themselves.
  /// - Throws: ``JournalError`` if the journal is unreadable. The services are then at the last
  ///   record before the fault and do not follow the journal.
  package func start(
    onProgress: (UInt64) -> Void = { _ in }, addLedgers: () -> Void = {}
  ) throws(JournalError) {
    try replay(onProgress, addLedgers)
    signals.link.host = self
    store.delegate = signals.link
  }

  private func replay(
    _ onProgress: (UInt64) -> Void, _ addLedgers: () -> Void
  ) throws(JournalError) {
    let replay = try Replay(ledgers: ledgers, store: store)
    let outcome = Result { () throws(JournalError) in try replay.run(onProgress: onProgress) }
    commits.durable = replay.position
    commits.durableNews = durable
    for ledger in ledgers { ledger.finishReplay() }
    let count = ledgers.count
    if (try? outcome.get()) != nil { addLedgers() }
    startWarnings = replay.warnings(besides: ledgers[count...].map(\.service))
    let oldest = min(replay.oldest, self.replay(added: ledgers[count...]))
    try outcome.get()
    past.window = replay.journal.window
    store.start(with: measured(replay.journal.heads))
    snapshotting.start(ledgers: ledgers, from: oldest)
    snapshotting.advance(to: replay.position, snapshots)
  }

  /// Returns the heads of all streams with their charged sizes.
  private func measured(_ heads: StreamHeads) -> StreamHeads {
    var heads = heads
    let list = streamNames.list
    // Consecutive streams mostly belong to the same service.
    var (service, ledger): (String, AnyLedger?) = ("", nil)
    heads.measure { stream in
      let name = list[stream]
      if !SourceName.isBelow(name, service.utf8.span) {
        service = name.service
        ledger = self.ledger(service)
      }
      guard let ledger else { return (0, name.count) }
      let size = ledger.sizes.ofStream(stream)
      return size == 0 && ledger.sizes.isEmpty(stream) ? nil : (size, name.count)
    }
    chargeServices(in: &heads)
    return heads
  }

  /// Charges the streams without events of services for the state that no other stream is charged for.
  private func chargeServices(in heads: inout StreamHeads) {
    for ledger in ledgers {
      let known = streamNames.number(of: ledger.service)
      if let known, heads[known].version > 0 { continue }
      let bytes = ledger.sizes.withoutStream()
      guard bytes > 0 else { continue }
      let stream = known ?? streamNames.add(ledger.service)
      // The user of the newest event is charged, as for a stream with events.
      var newest = Head.none
      let list = streamNames.list
      heads.forEach { other, head in
        guard head.seq > newest.seq, head.charge.user != Charge.nobody,
          list.text(other).prefix(while: { $0 != "/" }) == ledger.service
        else { return }
        newest = head
      }
      // Without events the state follows from those of other services.
      let user = newest.seq == 0 ? daemon.uid : newest.charge.user
      heads.grow(stream, in: streamNames, by: bytes, for: user)
      streamNames.hold(stream, by: .stream)
    }
  }

  // MARK: Commands

  /// Runs a method of a service as a command; all its events are recorded atomically, or none.
  ///
  /// - Returns: The answer. Send it once ``durable`` has reached ``last``.
  /// - Throws: ``Refusal``. Send it at the same point, because the command may have been checked
  ///   against events that are not durable yet.
  package func perform(
    _ command: Command, _ body: () throws -> JSONText?
  ) throws(Refusal) -> Accepted {
    if !command.isUsual, command.id != nil {
      if let done = try repetition(of: command) { return done }
      if let error = try past.refused.refusal(of: command) { throw .service(error) }
    }
    if store.isRefusing, let refusal { throw .journal(refusal) }
    if command.origin != .request || shares.disk != .ample { try checkShare(of: command) }
    if !command.isUsual { try checkExpectations(of: command) }
    running.begin(command, at: store.now)
    let before = chargesBefore(command)
    let bytesBefore = waiting.bytes
    defer {
      running.end()
      leasing.end()
    }
    do {
      // To grant the lease records events, which are not looked at.
      if !command.isUsual && command.lease != nil || leases?.isEmpty == false {
        leasing.begin(try command.lease?())
      }
      let value = try body()
      try checkRights()
      try checkQuota(since: before)
      if running.lastAppended != nil {
        shares.charge(waiting.bytes - bytesBefore, to: running.user)
      }
      return seal(command, value: value)
    } catch {
      rollBack()
      switch error {
      case let refusal as Refusal: throw refusal
      case let error as any ServiceError where error.isPending: throw .pending
      case let error as any ServiceError:
        // The client may retry the same command after it has logged in.
        if error.kind != .rejected(reason: "not_logged_in") {
          past.refused.add(command, error)
        }
        throw .service(error)
      default: throw .unexpected(detail: "\(command.method): \(error)")
      }
    }
  }

  private func checkExpectations(of command: Command) throws(Refusal) {
    for (stream, expected) in command.expectations {
      let actual = store.head(of: stream).version
      guard expected.holds(at: actual) else {
        throw .conflict(stream: stream, expected: expected, actual: actual)
      }
    }
  }

  /// The limits on the size of the state.
  package var quota: StateQuota {
    get { shares.quota }
    set { shares.quota = newValue }
  }

  /// The limits of roles; call ``WriteShares/refreshLimits()`` after a change.
  package var roleLimits: RoleLimits { shares.roleLimits }

  /// Emits when a quota is nearly exhausted.
  package var filling: PassthroughSubject<StateFilling, Never> { signals.filling }

  /// Users exempt from per-user limits (administrators).
  package var owners: Set<UInt32> {
    get { shares.owners }
    set { shares.owners = newValue }
  }

  /// The share of the journal that each user may write.
  package let shares = WriteShares()

  /// The daemon itself, as the caller of commands that no client sends.
  package var daemon = Peer(uid: 0)

  /// Checks the streams of the running command.
  ///
  /// - Throws: ``Refusal`` if a stream's name is invalid, or the caller may not record in it.
  package func checkRights() throws(Refusal) {
    if running.hasFault { try running.checkStreams() }
    if leasing.hasFault { try leasing.check() }
  }

  // MARK: Leases

  /// Runs code that records the events of leases; every caller may cause them, and they end with
  /// no lease.
  package func recordingLeases<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
    let wasOn = leasing.beginRecording()
    defer { leasing.endRecording(wasOn) }
    try body()
  }

  /// Records that an event of the running command has written or removed a part of a state.
  func recordLeasable(_ part: LeasedPart, isRemoved: Bool) {
    leasing.fail(leases?.recordWrite(part, under: isRemoved ? nil : runningLease))
  }

  /// Records that an event of the running command cannot end with a lease.
  func recordUnleasable(_ stream: String) {
    if runningLease != nil { leasing.fail(NotLeasable(stream: stream)) }
  }

  /// Records the event that removes what was written under a lease; call it within a command.
  package func remove(_ part: LeasedPart) {
    ledger(String(part.stream.prefix { $0 != "/" }))?.remove(part)
  }

  /// Returns the answer of an earlier run of the same command, or `nil` if there is none.
  ///
  /// - Throws: ``Refusal/reused(seq:)`` if the idempotency key belongs to another command.
  package func repetition(of command: Command) throws(Refusal) -> Accepted? {
    guard let id = command.identity, let entry = past.window[id] else { return nil }
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

  /// Completes the events of a command.
  private func seal(_ command: Command, value: JSONText?) -> Accepted {
    guard let last = running.lastAppended else {
      storeAnswer(command, value)
      return Accepted(value: value)
    }
    running.lastAppended = nil
    let lease = runningLease
    if !command.isUsual, command.waitsForDisk { store.requireDisk() }
    guard !command.isUsual, let id = command.identity else {
      store.seal(meta: nil)
      return Accepted(value: value, seq: last.seq, version: last.version, lease: lease)
    }
    // The last event of a command with an idempotency key stores the answer.
    let call = command.fingerprint
    let caller = command.caller
    let meta = Meta(
      uid: caller.uid, pid: caller.pid, method: command.method, program: caller.program,
      cause: command.cause, call: String(call, radix: 16), value: value)
    store.seal(meta: past.coder.text(meta).text)
    past.window.add(
      id,
      .init(
        seq: last.seq, version: last.version, time: running.time, call: call,
        answer: .init(value)))
    return Accepted(value: value, seq: last.seq, version: last.version, lease: lease)
  }

  /// Stores the answer of a command that recorded nothing, in memory only.
  ///
  /// Long answers are not stored, because the journal cannot hold them.
  private func storeAnswer(_ command: Command, _ value: JSONText?) {
    guard let id = command.identity, !CommandWindow.isLong(value) else { return }
    let call = command.fingerprint
    past.window.add(
      id,
      .init(seq: store.last, version: 0, time: running.time, call: call, answer: .init(value)))
  }

  /// Rolls back the events of a failed command.
  private func rollBack() {
    guard running.lastAppended != nil else { return }
    running.lastAppended = nil
    store.rollBackUnsealed()
    let undone = waiting.removeAll(after: store.last).union(routes.removeAll(after: store.last))
    for ledger in undone { ledgers[ledger].discard(store.last) }
    store.dropEmptyStreams(upTo: durable)
  }

  /// Writes the data of the event that is recorded next.
  @usableFromInline
  func write(_ body: (inout ByteBuffer) -> String) -> String {
    eventData.removeAll(keepingCapacity: Self.keptData)
    return body(&eventData)
  }

  private static let keptData = 64 << 10

  /// Records an event of the running command, whose data ``write(_:)`` has written.
  ///
  /// - Parameters:
  ///   - stream: The number of the stream's name.
  ///   - growth: The change of the state's size in bytes; see ``grow(_:by:)``.
  @usableFromInline
  func record(
    _ type: String, in stream: Int, growing growth: Int, by ledger: Int
  ) -> Appended {
    precondition(isPerforming, "an event is recorded outside of a command")
    if running.isRestricted, !leasing.isRecording {
      running.checkRight(streamNames.text(stream))
    }
    // The name of a stream with events is valid.
    if !streamNames.isHeld(stream, by: .stream) {
      running.checkName(streamNames.text(stream), of: ledgers[ledger].service)
    }
    let appended = store.append(
      to: stream, type, eventData.span, from: running.origin, growing: growth, at: running.time)
    running.lastAppended = appended
    waiting.append(
      by: ledger, for: running.user, dataBytes: eventData.count, at: appended.seq)
    return appended
  }

  /// Passes the event that was recorded last on to the states of other services that consist of it.
  @usableFromInline
  func route(_ type: String, in stream: Int) {
    guard let numbers = routes.numbers(of: type), let appended = running.lastAppended else {
      return
    }
    let event = RoutedEvent(
      type: EventType.name(of: type), data: JSONText(trusted: eventData.string), stream: stream,
      appended: appended, time: running.time, user: running.user)
    routes.charge {
      for number in numbers {
        routes.append(number, at: appended.seq)
        charge(ledgers[number].foreign.follow(event))
      }
    }
  }

  /// Returns the ledgers of other services that get the events of a type.
  func ledgers(for type: String) -> [AnyLedger] {
    routes.isOn ? (routes.numbers(of: type) ?? []).map { ledgers[$0] } : []
  }

  /// Lets the running command fail when it ends.
  func refuse(_ refusal: Refusal) {
    if isPerforming { running.refuse(refusal) }
  }

  /// Returns the bytes of state that a stream is charged for besides its name; `nil` if it is not
  /// charged.
  @usableFromInline
  func chargedSize(of stream: Int) -> Int? { appender.chargedSize(of: stream, in: streamNames) }

  /// Adjusts the charged size of a stream by the effect of the last recorded event, in bytes.
  ///
  /// - Returns: Whether it is charged for its name alone now; `nil` if the size is the same.
  @usableFromInline
  func grow(_ stream: Int, by growth: Int) -> Bool? {
    guard growth != 0, isPerforming else { return nil }
    return appender.grow(stream, in: streamNames, by: growth, for: running.user)
  }

  /// Adjusts the charged size of a stream, whose state follows from its events by other rules now.
  func remeasure(_ stream: Int, by growth: Int, isEmpty: Bool) {
    appender.remeasure(stream, in: streamNames, by: growth, isEmpty: isEmpty)
  }

  /// The number of states that have taken the place of another one since the start.
  ///
  /// Whoever reads values in several turns begins again when it has changed.
  package var replacements: UInt64 { commits.replacements }

  func countReplacement() { commits.replacements &+= 1 }

  /// Ends the charge for the name of a stream that has no state after the last recorded event.
  @usableFromInline
  func release(_ stream: Int) { store.release(stream) }

  // MARK: Commits and failures

  func store(committed events: RecordBatch) {
    commits.begin()
    signals.meter.begin()
    var user = Charge.nobody
    var decoder = RecordDecoder()
    for i in 0..<events.count {
      let seq = events.seq(at: i)
      commits.durable = seq
      if let (number, writer) = waiting.popFirst(at: seq) {
        if writer != user {
          if user != Charge.nobody { signals.meter.charge(user) }
          user = writer
        }
        let ledger = ledgers[number]
        ledger.commit()
        if !ledger.isAboutReaders { commits.durableNews = seq }
        while let number = routes.popFirst(at: seq) { ledgers[number].commit() }
      } else {
        // Another host over the same store has recorded it, and moved the store on.
        let record = decoder.record(events[i])
        let stream = streamNames.add(record.stream)
        try? ledger(record.service)?.apply(record, stream) { _ in }
        try? route(record, in: stream, isFollowed: false)
        commits.durableNews = seq
      }
      if !watchers.isEmpty { watchers.send(decoder.record(events[i]), eventForms) }
    }
    if user != Charge.nobody { signals.meter.charge(user) }
    past.window.commit(upTo: durable)
    commits.isCommitting = false
    committed.send(events)
    store.dropEmptyStreams(upTo: durable)
    snapshotting.advance(to: durable, snapshots)
  }

  /// Calls functions when a commit begins, and for each user whose events were reported.
  package func measureCommits(
    begin: @escaping () -> Void, charge: @escaping (_ user: UInt32) -> Void
  ) {
    (signals.meter.begin, signals.meter.charge) = (begin, charge)
  }

  /// Frees events that all readers with filters have collected, in the time of a user.
  package var freeEvents: (_ events: [RecentEvent], _ user: UInt32) -> Void {
    get { watchers.recent.free }
    set { watchers.recent.free = newValue }
  }

  /// Applies durable events of another daemon, which is the active one.
  ///
  /// Nothing of this daemon is pending then, so no event is taken for an own one because of its
  /// position.
  func store(followed events: RecordBatch) {
    precondition(waiting.isEmpty, "another daemon's events between own ones")
    commits.begin()
    var decoder = RecordDecoder()
    for i in 0..<events.count {
      let record = decoder.record(events[i])
      do throws(JournalError) {
        if try apply(record) { commits.durableNews = record.seq }
      } catch {
        commits.isCommitting = false
        return store(failed: error)
      }
      commits.durable = record.seq
      // A command that its client repeats here after a takeover must not run again.
      if record.command != nil { past.window.add(record, past.coder) }
      if !watchers.isEmpty { watchers.send(record, eventForms) }
    }
    past.window.commit(upTo: durable)
    commits.isCommitting = false
    committed.send(events)
    store.dropEmptyStreams(upTo: durable)
  }

  /// Applies an event of another daemon, and returns whether readers must be woken.
  private func apply(_ record: Record) throws(JournalError) -> Bool {
    let stream = streamNames.add(record.stream)
    guard let ledger = ledger(record.service) else {
      store.follow(record, to: stream, by: record.user, growing: 0)
      try route(record, in: stream, isFollowed: true)
      return true
    }
    try ledger.apply(record, stream) { effect in
      let user = record.user
      store.follow(record, to: stream, by: user, growing: effect.growth)
      for (other, growth) in effect.others {
        store.followGrowth(of: other, by: growth, for: user)
      }
      for stream in effect.released { store.followRelease(of: stream) }
    }
    try route(record, in: stream, isFollowed: true)
    return !ledger.isAboutReaders
  }

  func store(rejected error: JournalError) {
    forget()
    rejected.send(error)
  }

  func store(failed error: JournalError) {
    forget()
    failed.send(error)
  }

  private func forget() {
    waiting.removeAll()
    routes.removeAll()
    past.window.discard(after: store.durable)
    past.refused.removeAll()
    for ledger in ledgers { ledger.discard(store.durable) }
    store.dropEmptyStreams(upTo: durable)
  }

  // MARK: Compaction

  /// Makes the projections of all services and of the host.
  var makeProjections: [String: @Sendable () -> any Projection] { snapshotting.makeProjections }

  /// Makes the same projections, except for services with unknown events, whose content exists
  /// only in the events.
  package var retainedProjections: [String: @Sendable () -> any Projection] {
    snapshotting.retainedProjections
  }

  /// Saves snapshots at a position; emits once they are saved.
  package func keepSnapshots(at seq: UInt64) -> Signal<UInt64, JournalError> {
    snapshotting.keep(at: seq)
  }

  /// See ``EventStore/remove(_:)``.
  package func remove(_ removal: Removal) {
    store.remove(removal)
  }

  package var removed: Signal<Result<RemovalReport, JournalError>, Never> { store.removed }

  // MARK: Services

  /// See ``HostLedgers/forms``.
  var eventForms: [String: EventForms] { registered.forms }

  func ledger(_ service: String) -> AnyLedger? { ledgers.first { $0.service == service } }

  /// Saves the state in memory as snapshots, so that the next start replays nothing.
  ///
  /// For the shutdown: it encodes the state synchronously. Does nothing while events are pending,
  /// or when the next start takes less time to replay the events since the last snapshot than a new
  /// one takes now.
  package func saveSnapshots() {
    guard durable > snapshotting.saved, durable == store.last else { return }
    let tail = durable - snapshotting.saved
    if snapshotting.saved > 0, tail * Self.streamsPerReplay < UInt64(heads.count) { return }
    for snapshot in snapshots() { store.save(snapshot(durable)) }
  }

  /// The number of streams that a snapshot encodes and writes in the time to replay an event.
  private static let streamsPerReplay: UInt64 = 2

  /// Returns a function for each snapshot at ``durable``, which encodes it on any thread.
  ///
  /// The functions hold copies of the states that share storage with them, so that later events
  /// are not in the snapshots.
  private func snapshots() -> [@Sendable (_ durable: UInt64) -> Snapshot] {
    let (heads, window, list) = (appender.durableHeads, past.window, streamNames.list)
    return ledgers.compactMap { $0.isKept ? $0.snapshot() : nil } + [
      { seq in
        var window = window
        window.discard(after: seq)
        return JournalProjection.snapshot(of: heads(), list, window, at: seq)
      }
    ]
  }
}
