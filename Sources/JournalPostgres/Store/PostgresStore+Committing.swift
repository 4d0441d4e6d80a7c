internal import EventLoop
internal import Journal
internal import Model

/// The settlement of events whose outcome is unknown, on each new connection, and the appends.
extension PostgresStore: DatabaseConnectionDelegate {
  var hasPatience: Bool { if case .active = role { true } else { false } }

  func connectionEnded() {
    letters.stop()
    queue.retryTimer?.stop()
    lease.disconnected()
    letters.sendChange()
  }

  /// Refuses commands when the database has been away for too long, also those that wait.
  ///
  /// Their events stay, because some may be written already. They are settled once the database is
  /// back.
  func connectionChangedPatience() {
    updateRefusal()
    if connection.isOutOfPatience, last > durable { reports.stall(.interrupted) }
  }

  func connectionFoundOwnName() {
    fail(
      .unavailable(
        detail: "another daemon has the name '\(settings.node)' in this journal; set another "
          + "'node' in the configuration"))
  }

  func connection(received text: String, on channel: String) {
    if channel == PostgresSchema.channel { handleNotification(text) } else { letters.receive(text) }
  }

  // MARK: Settlement

  /// Compares the journal with what this daemon knows, after the first commit on a connection.
  func connection(greeted link: PostgresLink, _ head: JournalHead) {
    guard head.epoch == epoch else {
      return end(because: "the journal has another epoch, \(head.epoch)")
    }
    if settings.requiresReplication, head.standbys.isEmpty {
      return connection.avoid(
        link.host, because: "\(link.host): \(PostgresRequirements.asynchronous)")
    }
    // The last event must be the same one; if it is not, a failover has lost acknowledged events.
    guard head.last >= durable, head.checksum == nil || head.checksum == queue.lastChecksum else {
      return loseHistory(head, link)
    }
    if case .active(let term) = role, !queue.inFlight.isEmpty,
      head.term != term || head.last > durable
    {
      return checkInFlight(head, link)
    }
    welcome(head, link)
  }

  /// Looks whether the batch in flight was written.
  private func checkInFlight(_ head: JournalHead, _ link: PostgresLink) {
    let events = queue.inFlight
    var parameters = PostgresParameters()
    parameters.add(events.last)
    link.run(.event, parameters) { [unowned self] outcome in
      guard connection.current === link, queue.inFlight === events else { return }
      guard case .success(let result) = outcome.result else {
        return connection.reconnect(because: "the batch in flight cannot be looked up")
      }
      if queue.isLastInFlight(result) {
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

  /// Starts to append on a connection, once the outcome of all earlier appends is known.
  private func welcome(_ head: JournalHead, _ link: PostgresLink) {
    if case .active(let term) = role, head.term != term { return supersede(head) }
    connection.accept(link)
    lease.connected(at: loop.milliseconds)
    holdLock()
    for note in JournalNote.allCases where reports.notes[note] != lease.keptNotes[note] {
      sendNote(note)
    }
    if queue.inFlight.isEmpty { sendNext() } else { sendInFlight() }
    letters.begin()
    // The active daemon tells it to the daemons of the new state.
    let isActive = if case .active = role { true } else { false }
    if !isActive { letters.sendLoss() }
    update(head)
    if isActive { letters.sendLoss() }
    letters.sendChange()
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
    guard let link, case .active(let term) = role, !queue.inFlight.isEmpty else { return }
    var parameters = PostgresParameters()
    parameters.add(queue.inFlight.first - 1)
    parameters.add(term)
    parameters.add(settings.requiresReplication)
    parameters.add(lease.hasFollowers)
    queue.addInFlight(to: &parameters)
    connection.awaitAnswer()
    let events = queue.inFlight
    link.run(.append, parameters) { [unowned self] in
      guard self.link === link, queue.inFlight === events else { return }
      finishAppend($0, link)
    }
  }

  private func finishAppend(_ outcome: PostgresLink.Outcome, _ link: PostgresLink) {
    if let warning = outcome.warning { return connection.reconnect(because: "\(warning)") }
    switch outcome.result {
    case .success(let result):
      if result.integer(0, 0) == 1 { return commitInFlight() }
      // It was written before, or another daemon is active: the head says which.
      connection.awaitAnswer()
      let events = queue.inFlight
      link.run(.beat, beatParameters) { [unowned self] outcome in
        guard self.link === link, queue.inFlight === events else { return }
        guard case .success(let result) = outcome.result, let head = JournalHead(result) else {
          return connection.reconnect(because: "the head of the journal cannot be read")
        }
        checkInFlight(head, link)
      }
    case .failure(let error): handleFailure(error)
    }
  }

  /// Handles an append that the server has refused: nothing was written.
  ///
  /// The connection is kept if it works, because the lock of the active daemon ends with it.
  private func handleFailure(_ error: PostgresError) {
    connection.endWait()
    switch error.code {
    case PostgresSchema.Code.asynchronous:
      connection.reconnect(because: PostgresRequirements.asynchronous)
    // Another host may take writes.
    case "25006": connection.reconnect(because: "\(error)")
    case _ where error.isLost: connection.reconnect(because: "\(error)")
    case _ where error.isTemporary: queue.retry()
    default:
      let names = ["53100": "ENOSPC", "53200": "ENOMEM", "58030": "EIO"]
      let reason = names[error.code] ?? "SQL \(error.code)"
      reject(.readOnly(reason: reason, outcome: .none))
    }
  }

  // MARK: Notes

  /// Writes a note; after a lost connection it is written again.
  func sendNote(_ note: JournalNote) {
    guard let link, case .active(let term) = role, let text = reports.notes[note] else { return }
    var parameters = PostgresParameters()
    parameters.add(term)
    parameters.add(note.rawValue)
    parameters.add(text)
    link.run(.keep, parameters) { [unowned self] outcome in
      if case .success = outcome.result { lease.keptNotes[note] = text }
    }
  }
}
