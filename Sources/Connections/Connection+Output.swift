internal import JSON
package import Wire

extension Connection {
  /// Sends an answer in its turn.
  ///
  /// - Parameters:
  ///   - position: What must be durable before it leaves.
  ///   - isLate: Whether it may overtake others.
  ///   - milliseconds: How long its client waits for it, when it waits; `nil` for ever.
  ///   - write: Writes the whole line, its LF included.
  func emit(
    after position: UInt64, to addressee: Addressee, isLate: Bool,
    within milliseconds: Int? = nil, _ write: (inout ByteBuffer) -> Void
  ) {
    guard !isEnded else { return }
    if isLate, position > hub.position {
      heldLate.append(after: position, to: addressee) { buffer in
        writeLine(addressee, to: &buffer, write)
      }
      hub.await(self)
    } else if !isLate, position > hub.position || !held.isEmpty {
      let expiry = milliseconds.map {
        HeldAnswers.Expiry(at: hub.now() + UInt64($0), afterMilliseconds: $0)
      }
      held.append(after: position, to: addressee, expiring: expiry) { buffer in
        writeLine(addressee, to: &buffer, write)
      }
      if let expiry { expireHeld(at: expiry.at) }
      hub.await(self)
    } else if hub.current === self {
      writeLine(addressee, to: &hub.scratch, write)
    } else {
      writeLine(addressee, to: &output, write)
      hub.list(self)
    }
  }

  /// Counts a command that is not answered among those whose answers wait for the journal.
  func hold(until position: UInt64) {
    guard !isEnded, position > hub.position else { return }
    held.append(after: position, to: .nobody) { _ in }
    hub.await(self)
  }

  /// Writes a line; one that is longer than the client takes becomes an error.
  private func writeLine(
    _ addressee: Addressee, to buffer: inout ByteBuffer, _ write: (inout ByteBuffer) -> Void
  ) {
    let start = buffer.count
    write(&buffer)
    let size = buffer.count - start
    var error: WireError?
    if size > lineOut {
      error = .resultTooLarge(size, max: lineOut)
    } else if case .request = addressee {
      error = refusal(ofAnswerWith: size)
    }
    guard let error else { return }
    buffer.truncate(to: start)
    Frame.error(error, addressee.id, &buffer)
  }

  /// Sends what the requests of this turn were answered.
  func sendScratch() {
    guard !hub.scratch.isEmpty else { return }
    if isEnded {
      hub.scratch.removeAll(keepingCapacity: Hub.scratchSize)
      return
    }
    if outputBytes > 0 {
      output.append(hub.scratch)
    } else {
      send(hub.scratch)
    }
    hub.scratch.removeAll(keepingCapacity: Hub.scratchSize)
    checkOutput()
  }

  /// Sends bytes while nothing waits before them; what is not taken waits.
  private func send(_ buffer: borrowing ByteBuffer) {
    guard let sent = transport?.send(buffer.span) else { return hub.noteGone(self) }
    guard sent < buffer.count else { return }
    output.append(buffer.span.extracting(sent..<buffer.count))
    noteStall()
  }

  /// Sends what waits.
  ///
  /// - Returns: Whether nothing waits any more.
  func sendOutput() -> Bool {
    guard outputBytes > 0 else { return true }
    guard let sent = sendOutput(output) else {
      hub.noteGone(self)
      return false
    }
    outputStart += sent
    if sent > 0 { stalledSince = nil }
    guard outputBytes == 0 else {
      compactOutput()
      noteStall()
      return false
    }
    output.removeAll(keepingCapacity: 0)
    outputStart = 0
    return true
  }

  private func sendOutput(_ buffer: borrowing ByteBuffer) -> Int? {
    transport?.send(buffer.span.extracting(outputStart..<buffer.count))
  }

  /// Moves what waits to the front when more has been sent than waits.
  private func compactOutput() {
    guard outputStart > output.count / 2 else { return }
    output.removeFirst(outputStart)
    outputStart = 0
  }

  private func noteStall() {
    if stalledSince == nil { stalledSince = hub.now() }
    hub.monitor(self)
  }

  /// There is room for output again.
  package func becameWritable() {
    stalledSince = nil
    pump()
  }

  /// Sends all that is owed to the client and may leave: answers first, then what its
  /// subscriptions have, in one write as long as it takes everything.
  func pump() {
    guard !isEnded else { return }
    guard sendOutput() else { return pumpBlocked() }
    let hasBegun = (costlySubscriptions > 0 || !views.isEmpty) && hub.time.begin(for: user)
    defer { if hasBegun { hub.time.end() } }
    answerPostponed()
    var (isMore, chunks) = (true, 0)
    while isMore, !isEnded, outputBytes == 0 {
      // A client that reads as fast as it is written to is not to keep the others waiting.
      guard chunks < Hub.chunksPerTurn, chunks == 0 || !hub.time.isUp() else {
        hub.postpone(self)
        break
      }
      (isMore, chunks) = (false, chunks + 1)
      held.release(upTo: hub.position, to: &hub.scratch)
      heldLate.release(upTo: hub.position, to: &hub.scratch)
      goOnBehindAnswers()
      for subscription in subscriptions where subscription.isDirty && !subscription.isInBatch {
        guard hub.scratch.count < chunkSize else {
          isMore = true
          break
        }
        if subscription.fill(&hub.scratch) {
          subscription.isDirty = false
        } else {
          isMore = true
        }
        if subscription.isOver { remove(subscription) }
      }
      if !views.isEmpty || !closedViews.isEmpty, !fillViews(&hub.scratch) { isMore = true }
      sendScratch()
    }
    guard !isEnded else { return }
    if !syncs.isEmpty { answerSyncs() }
    if !held.isEmpty || !heldLate.isEmpty { hub.await(self) }
    if !postponedAnswers.isEmpty, outputBytes == 0 { hub.postpone(self) }
    noteBuffered()
    resume()
    updateReading()
    endIfDone()
  }

  /// Moves answers that are durable behind the output that the client has not taken, so that what it
  /// asks meanwhile is limited by bytes and not by the number of answers.
  private func pumpBlocked() {
    guard !isEnded else { return }
    if outputBytes < outputSoft, !held.isEmpty {
      held.release(upTo: hub.position, to: &output)
      if !held.isEmpty { hub.await(self) }
      resume()
    }
    noteBuffered()
    updateReading()
  }

  /// Does what was to be done behind the answers, when all have left.
  private func goOnBehindAnswers() {
    guard !behindAnswers.isEmpty, held.isEmpty, heldLate.isEmpty else { return }
    let steps = behindAnswers
    behindAnswers = []
    for step in steps { step() }
  }

  /// A client that asks and does not read is hung up on before it costs more.
  private func checkOutput() {
    if outputBytes > max(limits.outputHard, limits.outputSoft + lineOut) { close(.outQueueFull) }
  }

  /// The write that answers waited for is lost.
  func reject(_ error: WireError) {
    held.reject(after: hub.position, error)
    heldLate.reject(after: hub.position, error)
    writtenPosition = min(writtenPosition, hub.position)
    hub.list(self)
  }

  /// What was recorded at the end of the turn has this position.
  package func settle(at position: UInt64) {
    held.settle(at: position)
    batch?.answer.settle(at: position)
    noteWritten(upTo: position)
    hub.list(self)
  }

  /// What was to be recorded at the end of the turn was not, by what was decided up to a position.
  package func refuseUndecided(at position: UInt64, _ error: WireError) {
    held.refuseUndecided(at: position, error)
    batch?.answer.refuseUndecided(at: position, error)
    hub.list(self)
  }
}

extension WireError {
  /// An answer, or something else, that is longer than the client takes.
  package static func resultTooLarge(
    _ size: Int, max: Int, of what: String = "the answer"
  ) -> WireError {
    var data: JSONObject = ["size": .number(JSONNumber(size))]
    data.add(.lineOut, max: max)
    return WireError(
      .resultTooLarge, "\(what) has \(size) bytes or more, this client takes \(max) a line", data)
  }
}
