internal import EventLoop
internal import Journal
internal import Model

/// The state of the lease, as a daemon sees it: the active daemon, and its last sign of life.
struct LeaseState {
  /// The last state of the journal; `nil` before the first.
  var head: JournalHead?

  /// The time of the last sign of life of the active daemon, as seen here; in milliseconds of the
  /// loop.
  var seenAt: UInt64 = 0

  /// The time since which this daemon's own commits are answered in time.
  var steadySince: UInt64 = 0

  /// The time at which the beat in flight was sent; `nil` if none is in flight.
  var beatSentAt: UInt64?

  /// Whether the state in flight may be older than a change of the term.
  var mustBeat = false

  /// Whether the active daemon is known to be gone, so that its lock is free soon.
  var hasHint = false

  /// The attempts since the hint.
  var attempts = 0

  /// Whether the session of this active daemon is known to hold the lock.
  var hasLock = false

  /// Whether an attempt to become the active daemon is in flight.
  var isTaking = false

  /// The pause after an attempt that the server has refused.
  var takePause = GrowingPause()

  /// The term that this daemon has taken, until it has applied the events before it.
  var taken: (term: UInt64, last: UInt64)?

  /// Whether events are being read.
  var isFetching = false

  /// Whether other daemons must hear of new events.
  var hasFollowers = false

  /// The notes that the journal has.
  var keptNotes: [JournalNote: String] = [:]
  var isResigning = false

  /// Whether this daemon does not become the active one any more.
  var isLeaving = false

  /// Tries again to take the lease.
  var timer: EventLoop.Timer?
  var beatTimer: EventLoop.Timer?

  /// Waits for the end of the active daemon, while this one follows.
  var lockWatch: LockWatch?

  mutating func connected(at time: UInt64) { (seenAt, steadySince) = (time, time) }

  mutating func disconnected() {
    (beatSentAt, isTaking, isFetching, hasLock) = (nil, false, false, false)
    // The term may be taken; the next state of the journal says so.
    taken = nil
    timer?.stop()
    lockWatch?.stop()
  }

  mutating func close() {
    for timer in [timer, beatTimer] { timer?.close() }
    (timer, beatTimer) = (nil, nil)
  }
}

/// The lease of the active daemon: signs of life, and taking over.
///
/// Liveness: the session of the active daemon holds an advisory lock, which ends with it. Safety:
/// each append compares the term, which grows whenever another daemon takes over.
extension PostgresStore {
  /// The time between signs of life, in milliseconds.
  static let beatMilliseconds: UInt64 = 1_000

  /// The silence after which a free lock means that the active daemon is gone, in milliseconds.
  ///
  /// After a failover of the database the lock is free too, until the active daemon is back.
  private static let freeMilliseconds: UInt64 = 1_500

  /// The time between attempts after a hint, in milliseconds, and their number.
  private static let (hintMilliseconds, maxAttempts) = (UInt64(5), 400)

  var beatParameters: PostgresParameters {
    var parameters = PostgresParameters()
    parameters.add(settings.node)
    parameters.add(settings.boot)
    parameters.add(settings.address)
    parameters.add(settings.version)
    parameters.add(durable)
    if case .active(let term) = role {
      parameters.add("active")
      parameters.add(term)
    } else {
      parameters.add("following")
      parameters.add(nil)
    }
    return parameters
  }

  /// Shows that this daemon lives, and looks at the journal.
  func beat() {
    connection.checkPatience()
    guard let link, !lease.isResigning else { return }
    if let sentAt = lease.beatSentAt {
      // The database is slow for everybody, also for the active daemon.
      let elapsed = loop.milliseconds - sentAt
      if elapsed >= Self.beatMilliseconds { lease.steadySince = loop.milliseconds }
      guard queue.inFlight.isEmpty, elapsed >= settings.answerMilliseconds else { return }
      return connection.giveUp(link.host)
    }
    lease.beatSentAt = loop.milliseconds
    link.run(.beat, beatParameters) { [unowned self] outcome in
      guard self.link === link else { return }
      lease.beatSentAt = nil
      switch outcome.result {
      case .success(let result):
        guard let head = JournalHead(result), outcome.warning == nil else {
          return connection.reconnect(because: "a commit was not replicated")
        }
        guard head.epoch == epoch else {
          return end(because: "the journal has another epoch, \(head.epoch)")
        }
        if settings.requiresReplication, head.standbys.isEmpty {
          return connection.reconnect(because: PostgresRequirements.asynchronous)
        }
        update(head)
        holdLock()
        guard lease.mustBeat else { return }
        lease.mustBeat = false
        beat()
      case .failure(let error) where error.code == PostgresSchema.Code.sameNode:
        end(because: "another daemon has the name '\(settings.node)'")
      case .failure(let error): connection.reconnect(because: "\(error)")
      }
    }
  }

  func handleNotification(_ text: String) {
    if text == "term" { return refreshHead() }
    guard let seq = UInt64(text) else { return }
    fetch(upTo: seq)
  }

  /// Looks at the journal before the next beat.
  private func refreshHead() {
    guard lease.beatSentAt == nil else { return lease.mustBeat = true }
    beat()
  }

  /// Acts on a state of the journal, seen after a commit of this daemon.
  func update(_ head: JournalHead) {
    let before = lease.head
    lease.head = head
    defer { updateNodes(before: before) }
    first = max(first, head.first)
    if before.map({ head.showsLife(since: $0) }) ?? true { lease.seenAt = loop.milliseconds }
    switch role {
    case .active(let term):
      lease.hasFollowers = head.others > 0
      if head.term != term { supersede(head) }
    case .joining, .following:
      if before?.term != head.term { lease.hasHint = false }
      fetch(upTo: head.last)
      takeOverIfDue()
      reportActive()
      watchLock()
    case .over: break
    }
  }

  private func updateNodes(before: JournalHead?) {
    guard !isClosed, let head = lease.head else { return }
    letters.keep(head.addresses)
    if head.addresses != before?.addresses { letters.sendChange() }
  }

  /// Waits for the end of the active daemon while this one follows, and else not.
  func watchLock() {
    guard case .following = role, !isClosed, link != nil else {
      lease.lockWatch?.stop()
      return
    }
    if lease.lockWatch == nil {
      lease.lockWatch = LockWatch(settings.string, connection.hosts, on: loop) { [unowned self] in
        hint()
      }
    }
    lease.lockWatch?.start()
  }

  /// Tells who is active, once this daemon is a follower.
  private func reportActive() {
    guard let head = lease.head, lease.taken == nil, !lease.isTaking else { return }
    let node = head.active.map { ActiveNode(name: $0, address: head.address) }
    // A journal that nobody has yet is taken at once.
    if role == .joining, node == nil || node?.name == settings.node { return }
    setRole(.following(node))
  }

  // MARK: Taking over

  private func takeOverIfDue() {
    guard let head = lease.head, !lease.isTaking, lease.taken == nil, !lease.isLeaving
    else { return }
    let now = loop.milliseconds
    let silence = now - max(lease.seenAt, lease.steadySince)
    // One's own name: this daemon was active before it was started again.
    let isFree = head.active == nil || head.active == settings.node
    if isFree || lease.hasHint || silence >= Self.freeMilliseconds {
      takeOver(forced: silence >= settings.takeoverMilliseconds)
    }
  }

  private func takeOver(forced: Bool) {
    guard let link, let head = lease.head else { return }
    lease.isTaking = true
    var parameters = PostgresParameters()
    parameters.add(settings.node)
    parameters.add(settings.address)
    parameters.add(head.term)
    parameters.add(forced)
    connection.awaitAnswer()
    link.run(.take, parameters) { [unowned self] outcome in
      guard self.link === link else { return }
      connection.endWait()
      lease.isTaking = false
      let result: PostgresResult
      switch outcome.result {
      case .success(let taken): result = taken
      case .failure(let error):
        // The session keeps the lock of the active daemon, so it must end.
        return connection.reconnect(
          because: "the lease cannot be taken: \(error)", after: lease.takePause.next())
      }
      if let warning = outcome.warning { return connection.reconnect(because: "\(warning)") }
      lease.takePause.reset()
      let isTaken = result.integer(0, 0) == 1
      if isTaken {
        lease.hasHint = false
        lease.taken = (
          term: UInt64(clamping: result.integer(0, 3)),
          last: UInt64(clamping: result.integer(0, 1))
        )
      }
      if lease.isResigning { return leave() }
      guard isTaken else { return tryAgain() }
      fetch(upTo: lease.taken?.last ?? 0)
      finishTaking()
    }
  }

  /// Tries again soon, while the active daemon is known to be gone.
  private func tryAgain() {
    reportActive()
    guard lease.hasHint, !lease.isLeaving else { return }
    lease.attempts += 1
    guard lease.attempts < Self.maxAttempts else {
      (lease.hasHint, lease.attempts) = (false, 0)
      return
    }
    if lease.timer == nil {
      lease.timer = try? EventLoop.Timer(on: loop) { [unowned self] in takeOverIfDue() }
    }
    lease.timer?.start(afterMilliseconds: Self.hintMilliseconds)
  }

  /// Tries to take over, because the active daemon seems to be gone.
  func hint() {
    guard case .following = role else { return }
    (lease.hasHint, lease.attempts) = (true, 0)
    takeOverIfDue()
  }

  /// Becomes the active daemon, once all events before the term are applied.
  func finishTaking() {
    guard let (term, last) = lease.taken, !lease.isTaking, !lease.isLeaving, durable >= last,
      let link
    else { return }
    lease.isTaking = true
    guard durable == last else {
      return fail(.unavailable(detail: "the journal ends at \(last), this daemon is at \(durable)"))
    }
    // The notes of the daemon before this one.
    link.run(.values) { [unowned self] outcome in
      guard self.link === link else { return }
      guard case .success(let result) = outcome.result else {
        return connection.reconnect(because: "the notes cannot be read")
      }
      lease.isTaking = false
      if lease.isResigning { return leave() }
      guard !lease.isLeaving else { return }
      lease.taken = nil
      var texts: [String: String] = [:]
      for row in 0..<result.count { texts[result.text(row, 0) ?? ""] = result.text(row, 1) }
      lease.keptNotes = PostgresJournal.notes(in: texts)
      reports.replaceNotes(with: lease.keptNotes)
      lease.hasFollowers = true
      setRole(.active(term: term))
      holdLock()
    }
  }

  /// Takes the lock, unless the session of this active daemon has it.
  ///
  /// It has none after a lost connection, and after it has replaced a daemon that hangs: the other
  /// session may still have the lock, so each beat tries again. Without it no follower notices at
  /// once when this daemon is killed.
  func holdLock() {
    guard let link, case .active = role, !lease.hasLock else { return }
    link.run(.lock) { [unowned self] outcome in
      guard self.link === link, case .success(let result) = outcome.result else { return }
      lease.hasLock = result.text(0, 0) == "t"
    }
  }

  /// Stops appending, because another daemon is the active one now.
  ///
  /// Its term keeps this daemon's batch from being written, so the outcome is known.
  func supersede(_ head: JournalHead) {
    let name = head.active.map { "'\($0)'" } ?? "another daemon"
    guard !queue.inFlight.isEmpty, let link = connection.current else {
      return end(because: "\(name) has taken over")
    }
    let events = queue.inFlight
    var parameters = PostgresParameters()
    parameters.add(events.last)
    link.run(.event, parameters) { [unowned self] outcome in
      if case .success(let result) = outcome.result, queue.inFlight === events,
        queue.isLastInFlight(result)
      {
        commitInFlight()
      }
      end(because: "\(name) has taken over")
    }
  }

  // MARK: Leaving

  package func stopContending() { lease.isLeaving = true }

  package func resign() {
    lease.isLeaving = true
    guard link != nil, !lease.isResigning else { return }
    lease.isResigning = true
    // The outcome of the attempt in flight says what to give back.
    if !lease.isTaking { leave() }
  }

  /// Gives the term back, if this daemon has it, and ends.
  private func leave() {
    guard let link else { return }
    var parameters = PostgresParameters()
    parameters.add(settings.node)
    let statement: PostgresStatement
    switch (role, lease.taken) {
    case (.active(let term), _), (_, (let term, _)?):
      statement = .resign
      parameters.add(term)
    case (.following, nil):
      statement = .leave
      parameters.add(settings.boot)
    case (.joining, nil), (.over, nil): return
    }
    link.run(statement, parameters) { [unowned self] _ in end(because: "it has resigned") }
  }
}
