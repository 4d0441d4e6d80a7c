internal import JSON
package import Wire

extension Connection {
  /// Sends an answer in order.
  ///
  /// - Parameters:
  ///   - position: The position that must be durable before the answer is sent.
  ///   - isLate: Whether the answer may overtake others.
  ///   - milliseconds: The time that the client waits for the answer; `nil` for no limit.
  ///   - write: Writes the whole line, including its LF.
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

  /// Counts an unanswered command among the answers that wait for the journal.
  func hold(until position: UInt64) {
    guard !isEnded, position > hub.position else { return }
    held.append(after: position, to: .nobody) { _ in }
    hub.await(self)
  }

  /// Writes a line.
  ///
  /// Replaces it by an error if it is too long for the client.
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

  /// Sends the answers to the requests of this turn.
  func sendScratch() {
    guard !hub.scratch.isEmpty else { return }
    if isEnded {
      hub.scratch.removeAll(keepingCapacity: Hub.scratchSize)
      return
    }
    if outputBytes > 0 {
      output.append(hub.scratch)
    } else {
      sendNow()
    }
    hub.scratch.removeAll(keepingCapacity: Hub.scratchSize)
    checkOutput()
  }

  /// Sends the answers of this turn while no output is pending.
  ///
  /// Buffers the bytes that the socket does not take.
  private func sendNow() {
    guard let sent = send(hub.scratch, from: 0) else { return hub.noteGone(self) }
    guard sent < hub.scratch.count else { return }
    if hub.scratch.capacity > Hub.scratchSize {
      // To copy a long answer costs more than to encode it: the buffer changes hands.
      output.removeAll(keepingCapacity: 0)
      swap(&output, &hub.scratch)
      outputStart = sent
    } else {
      keep(hub.scratch, from: sent)
    }
    noteStall()
  }

  private func keep(_ buffer: borrowing ByteBuffer, from start: Int) {
    output.append(buffer.span.extracting(start..<buffer.count))
  }

  /// Sends pending output.
  ///
  /// - Returns: Whether all of it was sent.
  func sendOutput() -> Bool {
    guard outputBytes > 0 else { return true }
    guard let sent = send(output, from: outputStart) else {
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

  private func send(_ buffer: borrowing ByteBuffer, from start: Int) -> Int? {
    transport?.send(buffer.span.extracting(start..<buffer.count))
  }

  /// Moves the pending bytes to the front if most of the buffer was sent.
  private func compactOutput() {
    guard outputStart > output.count / 2 else { return }
    output.removeFirst(outputStart)
    outputStart = 0
  }

  private func noteStall() {
    if stalledSince == nil { stalledSince = hub.now() }
    hub.monitor(self)
  }

  /// Continues sending after the socket has room again.
  package func becameWritable() {
    stalledSince = nil
    pump()
  }

  /// Sends everything that is due: answers first, then subscription and view updates, in as few
  /// writes as possible.
  func pump() {
    guard !isEnded else { return }
    guard sendOutput() else { return pumpBlocked() }
    let hasBegun = (costlySubscriptions > 0 || !views.isEmpty) && hub.time.begin(for: user)
    defer { if hasBegun { hub.time.end() } }
    answerPostponed()
    var (isMore, chunks) = (true, 0)
    while isMore, !isEnded, outputBytes == 0 {
      // A client that reads as fast as the daemon writes must not starve the others.
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

  /// Moves durable answers to the pending output of a blocked client, so that bytes and not the
  /// number of answers limit its requests.
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

  /// Runs the actions that wait for all earlier answers to be sent.
  private func goOnBehindAnswers() {
    guard !behindAnswers.isEmpty, held.isEmpty, heldLate.isEmpty else { return }
    let steps = behindAnswers
    behindAnswers = []
    for step in steps { step() }
  }

  /// Closes the connection of a client that sends requests but does not read the answers.
  private func checkOutput() {
    if outputBytes > max(limits.outputHard, limits.outputSoft + lineOut) { close(.outQueueFull) }
  }

  /// Replaces the answers to lost writes by an error.
  func reject(_ error: WireError) {
    held.reject(after: hub.position, error)
    heldLate.reject(after: hub.position, error)
    writtenPosition = min(writtenPosition, hub.position)
    hub.list(self)
  }

  /// Sets the position of the events recorded at the end of the turn.
  package func settle(at position: UInt64) {
    held.settle(at: position)
    batch?.answer.settle(at: position)
    noteWritten(upTo: position)
    hub.list(self)
  }

  /// Replaces the answers to events that were not recorded by an error, which waits for `position`.
  package func refuseUndecided(at position: UInt64, _ error: WireError) {
    held.refuseUndecided(at: position, error)
    batch?.answer.refuseUndecided(at: position, error)
    hub.list(self)
  }
}

extension WireError {
  /// Creates an error for an answer, or another item, that is longer than the client's line limit.
  package static func resultTooLarge(
    _ size: Int, max: Int, of what: String = "the answer"
  ) -> WireError {
    var data: JSONObject = ["size": .number(JSONNumber(size))]
    data.add(.lineOut, max: max)
    return WireError(
      .resultTooLarge, "\(what) has \(size) bytes or more; this client takes \(max) per line", data)
  }
}
