internal import EventLoop
internal import Facts
internal import Journal
internal import Signals

/// Connecting, and what follows on each new connection: the session's settings, a commit of its own,
/// and the settlement of events whose outcome is unknown.
extension PostgresStore {
  /// The pause between attempts to connect, in milliseconds.
  private static let pauseMilliseconds: UInt64 = 100

  /// The wait for the name of this daemon, and the pause between attempts, in milliseconds.
  ///
  /// A daemon without a sign of life loses its name after 5 s.
  private static let (nameMilliseconds, namePauseMilliseconds) = (UInt64(7_000), UInt64(250))

  func startTimers() {
    do throws(SystemError) {
      connectTimer = try Timer(on: loop) { [unowned self] in connect() }
      answerTimer = try Timer(on: loop) { [unowned self] in noteSilence() }
      retryTimer = try Timer(on: loop) { [unowned self] in sendInFlight() }
      beatTimer = try Timer(on: loop) { [unowned self] in beat() }
    } catch {
      preconditionFailure("no timer: \(error)")  // libuv's timers fail only without memory
    }
    beatTimer?.start(
      afterMilliseconds: Self.beatMilliseconds, everyMilliseconds: Self.beatMilliseconds)
  }

  func stopTimers() {
    for timer in [connectTimer, answerTimer, retryTimer, beatTimer] { timer?.close() }
    (connectTimer, answerTimer, retryTimer, beatTimer) = (nil, nil, nil, nil)
    lease.timer?.close()
    lease.timer = nil
  }

  /// Connects, unless the store is connected or is being connected.
  func connect() {
    guard !isClosed, link == nil, greeting == nil else { return }
    dialer.dial(avoiding: avoided) { [unowned self] result in
      switch result {
      case .success(let link): greet(link)
      case .failure(let failure):
        noteAway("\(failure)", after: failure.isSlow ? connectPause.next() : Self.pauseMilliseconds)
      }
    }
  }

  /// Drops the connection; the outcome of statements in flight is unknown.
  ///
  /// Nothing is cancelled: a cancelled wait for a standby would report success.
  func disconnect() {
    dialer.stop()
    link?.close()
    greeting?.close()
    (link, greeting) = (nil, nil)
    lockWatch?.stop()
    letters.stop()
    answerTimer?.stop()
    retryTimer?.stop()
    lease.disconnected()
    letters.noteChange()
  }

  /// Connects again after a lost or silent connection: at once, because another host may be ready.
  func reconnect(because reason: String, after pause: UInt64 = 1) {
    disconnect()
    noteAway(reason, after: pause)
  }

  /// Notes why there is no connection, and connects again after a pause in milliseconds.
  private func noteAway(
    _ reason: String, after pause: UInt64 = PostgresStore.pauseMilliseconds
  ) {
    guard !isClosed else { return }
    let now = loop.milliseconds
    away = (away?.since ?? now, reason)
    if report.map({ $0.reason != reason && now - $0.at >= settings.reportMilliseconds }) ?? true {
      report = (reason, now)
      onInterruption(reason)
    }
    connectTimer?.start(afterMilliseconds: pause)
    checkPatience()
  }

  /// Refuses commands when the database has been away for too long, also those that wait.
  ///
  /// Their events stay, because some may be written already. They are settled once the database is
  /// back.
  func checkPatience() {
    guard let away, !isOutOfPatience, case .active = role,
      loop.milliseconds - away.since >= settings.patienceMilliseconds
    else { return }
    isOutOfPatience = true
    updateRefusal()
    if last > durable { stalledSubject.send(.interrupted) }
  }

  // MARK: Greeting

  /// The settings of a session: every commit waits for the standbys, and no limit ends a statement
  /// that has its locks.
  ///
  /// While a standby hangs, a session that commits keeps the locks of its rows. Those that wait for
  /// them end at their limit, or they would use up the connections of the server; they have written
  /// nothing.
  private var session: String {
    """
    SELECT set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply'
        ELSE 'on' END, false),
      set_config('statement_timeout', '0', false),
      set_config('lock_timeout', '\(settings.maxGreetMilliseconds)', false),
      set_config('idle_in_transaction_session_timeout', '0', false),
      set_config('idle_session_timeout', '0', false),
      set_config('client_min_messages', 'warning', false)
    """
  }

  private func greet(_ link: PostgresLink) {
    greeting = link
    link.onLost = { [unowned self] error in
      avoided = link.host
      reconnect(because: "\(error)")
    }
    answerTimer?.start(afterMilliseconds: greetMilliseconds)
    link.run(text: session) { [unowned self] in check($0, link) }
    for channel in [PostgresSchema.channel, PostgresMail.channel(of: settings.boot)] {
      link.run(text: "LISTEN \(channel)") { [unowned self] in check($0, link) }
    }
    link.run(.beat, beatParameters) { [unowned self] outcome in
      guard greeting === link else { return }
      switch outcome.result {
      case .success(let result):
        guard let head = JournalHead(result), outcome.warning == nil else {
          return reconnect(because: "the first commit was not replicated")
        }
        settle(head, on: link)
      case .failure(let error): refuse(error, by: link)
      }
    }
  }

  private func check(_ outcome: PostgresLink.Outcome, _ link: PostgresLink) {
    if case .failure(let error) = outcome.result, greeting === link { refuse(error, by: link) }
  }

  /// Handles the error of a session's first statements.
  private func refuse(_ error: PostgresError, by link: PostgresLink) {
    if error.code == PostgresSchema.Code.sameNode { return waitForName() }
    avoided = link.host
    disconnect()
    noteAway(
      "\(link.host): \(error)",
      after: error.isTemporary ? Self.pauseMilliseconds : connectPause.next())
  }

  /// Waits until the name of this daemon is free: the daemon that has it may be gone.
  private func waitForName() {
    disconnect()
    let since = lease.nameTakenSince ?? loop.milliseconds
    lease.nameTakenSince = since
    guard loop.milliseconds - since >= Self.nameMilliseconds else {
      connectTimer?.start(afterMilliseconds: Self.namePauseMilliseconds)
      return
    }
    fail(
      .unavailable(
        detail: "another daemon has the name '\(settings.node)' in this journal; set another "
          + "'node' in the configuration"))
  }

  /// Gives a connection up that does not answer.
  private func noteSilence() {
    guard let host = (greeting ?? link)?.host else { return }
    avoided = host
    if greeting != nil {
      greetMilliseconds = min(2 * greetMilliseconds, settings.maxGreetMilliseconds)
    }
    reconnect(because: "\(host) does not answer")
  }

  // MARK: Settlement

  /// Compares the journal with what this daemon knows, after the first commit on a connection.
  private func settle(_ head: JournalHead, on link: PostgresLink) {
    guard head.epoch == epoch else {
      return end(because: "the journal has another epoch, \(head.epoch)")
    }
    if settings.requiresReplication, head.standbys.isEmpty {
      avoided = link.host
      disconnect()
      return noteAway("\(link.host): \(PostgresRequirements.asynchronous)")
    }
    // The last event must be the same one; if it is not, a failover has lost acknowledged events.
    guard head.last >= durable, head.checksum == nil || head.checksum == lastChecksum else {
      return loseHistory(head, link)
    }
    if case .active(let term) = role, !inFlight.isEmpty, head.term != term || head.last > durable {
      return settleInFlight(head, link)
    }
    welcome(head, link)
  }

  /// Looks whether the batch in flight was written.
  private func settleInFlight(_ head: JournalHead, _ link: PostgresLink) {
    let events = inFlight
    var parameters = PostgresParameters()
    parameters.add(events.last)
    link.run(.event, parameters) { [unowned self] outcome in
      guard greeting === link || self.link === link, inFlight === events else { return }
      guard case .success(let result) = outcome.result else {
        return reconnect(because: "the batch in flight cannot be looked up")
      }
      if rows.isLast(of: events, in: result) {
        commitInFlight()
      } else if case .active(let term) = role, head.term == term {
        return fail(
          .unavailable(
            detail: "the journal ends at \(head.last) with an event that this daemon, which is "
              + "the active one, has not written; stop all daemons, and look for another program "
              + "that writes to the schema binder"))
      }
      welcome(head, link)
    }
  }

  /// Takes a settled connection into use.
  private func welcome(_ head: JournalHead, _ link: PostgresLink) {
    if case .active(let term) = role, head.term != term { return supersede(head) }
    if greeting === link { greeting = nil }
    self.link = link
    answerTimer?.stop()
    greetMilliseconds = settings.answerMilliseconds
    connectPause.reset()
    lease.nameTakenSince = nil
    avoided = nil
    link.onNotification = { [unowned self] channel, text in
      if channel == PostgresSchema.channel { noteNotification(text) } else { letters.receive(text) }
    }
    if away != nil {
      away = nil
      report = nil
      isOutOfPatience = false
      updateRefusal()
      onInterruption(nil)
    }
    lease.connected(at: loop.milliseconds)
    holdLock()
    for note in JournalNote.allCases where notes[note] != lease.keptNotes[note] { sendNote(note) }
    if inFlight.isEmpty { sendNext() } else { sendInFlight() }
    letters.begin()
    // The active daemon tells it to the daemons of the new state.
    let isActive = if case .active = role { true } else { false }
    if !isActive { letters.noteLoss() }
    note(head)
    if isActive { letters.noteLoss() }
    letters.noteChange()
  }

  /// Gives the journal a new epoch, because acknowledged events are gone, and ends.
  private func loseHistory(_ head: JournalHead, _ link: PostgresLink) {
    let detail =
      head.last < durable
      ? "the journal ends at \(head.last), but event \(durable) was acknowledged"
      : "event \(durable) of the journal is not the one that was acknowledged"
    link.run(
      text: """
        UPDATE binder.journal SET value = lpad(to_hex((random() * 4294967295)::bigint), 8, '0')
        WHERE key = 'epoch' AND value = '\(epoch)'
        """
    ) { [unowned self] _ in
      fail(
        .unavailable(
          detail: "\(detail): a failover of the database has lost events; the journal has a new "
            + "epoch, so that no client goes on from a lost position"))
    }
  }

  // MARK: Appending

  /// Sends the batch in flight, for the first time or again.
  func sendInFlight() {
    guard let link, case .active(let term) = role, !inFlight.isEmpty else { return }
    var parameters = PostgresParameters()
    parameters.add(inFlight.first - 1)
    parameters.add(term)
    parameters.add(settings.requiresReplication)
    parameters.add(lease.hasFollowers)
    rows.add(inFlight, to: &parameters)
    answerTimer?.start(afterMilliseconds: settings.answerMilliseconds)
    let events = inFlight
    link.run(.append, parameters) { [unowned self] in
      guard self.link === link, inFlight === events else { return }
      noteAppend($0, link)
    }
  }

  private func noteAppend(_ outcome: PostgresLink.Outcome, _ link: PostgresLink) {
    if let warning = outcome.warning { return reconnect(because: "\(warning)") }
    switch outcome.result {
    case .success(let result):
      if result.integer(0, 0) == 1 { return commitInFlight() }
      // It was written before, or another daemon is active: the head says which.
      answerTimer?.start(afterMilliseconds: settings.answerMilliseconds)
      let events = inFlight
      link.run(.beat, beatParameters) { [unowned self] outcome in
        guard self.link === link, inFlight === events else { return }
        guard case .success(let result) = outcome.result, let head = JournalHead(result) else {
          return reconnect(because: "the head of the journal cannot be read")
        }
        settleInFlight(head, link)
      }
    case .failure(let error): noteFailure(error)
    }
  }

  /// Handles an append that the server has refused: nothing was written.
  ///
  /// The connection is kept if it works, because the lock of the active daemon ends with it.
  private func noteFailure(_ error: PostgresError) {
    answerTimer?.stop()
    switch error.code {
    case PostgresSchema.Code.asynchronous: reconnect(because: PostgresRequirements.asynchronous)
    // Another host may take writes.
    case "25006": reconnect(because: "\(error)")
    case _ where error.isLost: reconnect(because: "\(error)")
    case _ where error.isTemporary: retryTimer?.start(afterMilliseconds: retryPause.next())
    default:
      let names = ["53100": "ENOSPC", "53200": "ENOMEM", "58030": "EIO"]
      let reason = names[error.code] ?? "SQL \(error.code)"
      reject(.readOnly(reason: reason, outcome: .none))
    }
  }

  // MARK: Notes

  /// Writes a note; after a lost connection it is written again.
  func sendNote(_ note: JournalNote) {
    guard let link, case .active(let term) = role, let text = notes[note] else { return }
    var parameters = PostgresParameters()
    parameters.add(term)
    parameters.add(note.rawValue)
    parameters.add(text)
    link.run(.keep, parameters) { [unowned self] outcome in
      if case .success = outcome.result { lease.keptNotes[note] = text }
    }
  }
}
