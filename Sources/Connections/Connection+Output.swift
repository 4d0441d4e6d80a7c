internal import EventLoop
internal import JSON
package import Wire

extension Connection {
  /// Sends an answer in order.
  ///
  /// - Parameters:
  ///   - position: The position that must be durable before the answer is sent.
  ///   - isLate: Whether the answer may overtake others.
  ///   - isForwarded: Whether it comes from another daemon: such a late answer overtakes no late one.
  ///   - milliseconds: The time that the client waits for the answer; `nil` for no limit.
  ///   - write: Writes the whole line, including its LF.
  func emit(
    after position: UInt64, to addressee: Addressee, isLate: Bool, isForwarded: Bool = false,
    within milliseconds: Int? = nil, _ write: (inout ByteBuffer) -> Void
  ) {
    guard !isEnded else { return }
    if isLate, position > context.position || isForwarded && !held.late.isEmpty {
      held.late.append(after: position, to: addressee) { buffer in
        writeLine(addressee, to: &buffer, write)
      }
      context.await(self)
    } else if !isLate, position > context.position || !held.inOrder.isEmpty {
      let expiry = milliseconds.map {
        PendingReplies.Expiry(at: context.now() + UInt64($0), afterMilliseconds: $0)
      }
      held.inOrder.append(after: position, to: addressee, expiring: expiry) { buffer in
        writeLine(addressee, to: &buffer, write)
      }
      if let expiry { expireHeld(at: expiry.at) }
      context.await(self)
    } else if context.current == ObjectIdentifier(self) {
      writeLine(addressee, to: &context.scratch, write)
    } else {
      writeLine(addressee, to: &output.tail, write)
      list()
    }
  }

  /// Sends a whole answer in order like ``emit(after:to:isLate:isForwarded:within:_:)``.
  ///
  /// A long one is not copied, unless it waits.
  func emit(
    _ answer: consuming PieceBuffer, after position: UInt64 = 0, to addressee: Addressee,
    isLate: Bool, within milliseconds: Int? = nil
  ) {
    let isNext = position <= context.position && (isLate || held.inOrder.isEmpty)
    guard !answer.isShort, isNext, !isEnded,
      refusal(ofLineWith: answer.count, to: addressee) == nil
    else {
      return emit(after: position, to: addressee, isLate: isLate, within: milliseconds) {
        answer.write(to: &$0)
      }
    }
    if context.current == ObjectIdentifier(self) { moveScratch() }
    output.append(answer)
    list()
  }

  /// Counts an unanswered command among the answers that wait for the journal.
  func hold(until position: UInt64) {
    guard !isEnded, position > context.position else { return }
    held.inOrder.append(after: position, to: .nobody) { _ in }
    context.await(self)
  }

  /// Writes a line.
  ///
  /// Replaces it by an error if it is too long for the client.
  private func writeLine(
    _ addressee: Addressee, to buffer: inout ByteBuffer, _ write: (inout ByteBuffer) -> Void
  ) {
    let start = buffer.count
    write(&buffer)
    checkLine(from: start, addressee, &buffer)
  }

  /// Sends the answer to a request in order, at once or when a position is durable.
  func answer(
    _ id: RequestID, after position: UInt64, _ write: (inout ByteBuffer) -> Void
  ) {
    guard !isEnded else { return }
    if position > context.position || !held.inOrder.isEmpty {
      held.inOrder.append(after: position) { writeAnswer(id, to: &$0, write) }
      if !isWaiting { context.await(self) }
    } else if context.current == ObjectIdentifier(self) {
      writeAnswer(id, to: &context.scratch, write)
    } else {
      writeAnswer(id, to: &output.tail, write)
      list()
    }
  }

  /// Writes the answer to a request.
  ///
  /// Replaces it by an error if it is too long for the client.
  @inline(__always)
  private func writeAnswer(
    _ id: RequestID, to buffer: inout ByteBuffer, _ write: (inout ByteBuffer) -> Void
  ) {
    let start = buffer.count
    Frame.result(id, &buffer, write)
    let size = buffer.count - start
    guard size > min(lineOut, Self.crowdedBytes) else { return }
    checkLine(from: start, .request(id), &buffer)
  }

  /// Replaces the last line by an error if it is too long.
  private func checkLine(from start: Int, _ addressee: Addressee, _ buffer: inout ByteBuffer) {
    let size = buffer.count - start
    guard let error = refusal(ofLineWith: size, to: addressee) else { return }
    context.traffic.countRefusal(error.name)
    buffer.truncate(to: start)
    Frame.error(error, addressee.id, &buffer)
  }

  /// Returns the error that replaces a line of `size` bytes, or `nil` if the line fits.
  private func refusal(ofLineWith size: Int, to addressee: Addressee) -> WireError? {
    if size > lineOut { return .resultTooLarge(size, max: lineOut) }
    guard case .request = addressee else { return nil }
    return refusal(ofAnswerWith: size)
  }

  /// Sends the answers to the requests of this turn.
  func sendScratch() {
    guard !context.scratch.isEmpty || output.isNew else { return }
    if outputBytes == 0, !isEnded {
      sendNow()
      context.scratch.removeAll(keepingCapacity: ConnectionContext.scratchSize)
    } else {
      moveScratch()
      if output.isNew { _ = sendOutput() }
    }
    if !isEnded { checkOutput() }
  }

  /// Moves the answers to the requests of this turn behind the other output.
  private func moveScratch() {
    if !isEnded { output.append(context.scratch) }
    context.scratch.removeAll(keepingCapacity: ConnectionContext.scratchSize)
  }

  /// Sends the answers of this turn while no output is pending.
  ///
  /// Buffers the bytes that the socket does not take.
  private func sendNow() {
    guard let sent = send(context.scratch) else { return context.removeAtTurnEnd(self) }
    guard sent < context.scratch.count else { return }
    if context.scratch.capacity > ConnectionContext.scratchSize {
      // To copy a long answer costs more than to encode it: the buffer changes hands.
      output.exchange(with: &context.scratch, from: sent)
    } else {
      output.append(context.scratch, from: sent)
    }
    monitorStall()
  }

  /// Sends pending output.
  ///
  /// - Returns: Whether all of it was sent.
  func sendOutput() -> Bool {
    var total = 0
    while outputBytes > 0 {
      // A client that reads as fast as the daemon writes must not starve the others.
      guard total < ConnectionContext.chunksPerTurn * ConnectionContext.chunkSize else {
        context.postpone(self)
        return false
      }
      let count = output.firstCount
      guard let sent = output.withFirst({ send($0) }) else {
        context.removeAtTurnEnd(self)
        return false
      }
      output.drop(sent)
      total += sent
      guard sent == count else {
        monitorStall()
        return false
      }
    }
    return true
  }

  private func send(_ buffer: borrowing ByteBuffer) -> Int? { send(buffer.span) }

  private func send(_ bytes: Span<UInt8>) -> Int? {
    let sent = link.transport?.send(bytes)
    countSent(sent ?? 0)
    return sent
  }

  private func countSent(_ bytes: Int) {
    context.traffic.sentBytes &+= UInt64(bytes)
    context.charge(bytes, to: user)
  }

  /// Gathers the answers and updates of this turn, if all that is left to do for the client is to
  /// send them.
  ///
  /// - Returns: Whether they were gathered, so that ``endGatheredSending()`` follows.
  private func gather() -> Bool {
    let count = context.scratch.count
    guard let gathered = context.gathered, gathered.isOpen, count > 0, count <= SendBatch.maxBytes,
      outputBytes == 0, intake.parked == nil, lateCalls.syncs.isEmpty, followUps.isEmpty,
      !link.isAtEnd, !isEnded, !isGone, add(context.scratch, to: gathered.batch)
    else { return false }
    link.gatheredPlace = gathered.append(self)
    context.scratch.removeAll(keepingCapacity: ConnectionContext.scratchSize)
    return true
  }

  private func add(_ buffer: borrowing ByteBuffer, to batch: SendBatch) -> Bool {
    link.transport?.add(buffer.span, to: batch) ?? false
  }

  /// Sends gathered output before the others', because the connection is about to end.
  func sendGathered() {
    guard link.gatheredPlace != nil else { return }
    context.handover?.markCut(self)
    endGathered()
  }

  /// Does what follows from the result of gathered output; sends it if that was not done.
  func endGathered() {
    guard let place = link.gatheredPlace, let gathered = context.gathered else { return }
    link.gatheredPlace = nil
    guard let sent = gathered.result(of: place) else { return context.removeAtTurnEnd(self) }
    countSent(sent)
    gathered.batch.withBytes(of: place) { bytes in
      guard sent < bytes.count else { return }
      output.putBack(bytes.extracting(sent..<bytes.count))
      monitorStall()
    }
  }

  private func monitorStall() {
    if output.stalledSince == nil { output.stalledSince = context.now() }
    context.monitor(self)
  }

  /// Continues sending after the socket has room again.
  package func becameWritable() {
    output.stalledSince = nil
    serve { sendDue() }
  }

  /// Sends everything that is due: answers first, then subscription and view updates, in as few
  /// writes as possible.
  func sendDue() {
    guard !isEnded, !isGone else { return }
    // What was sent already would not be known if the daemon were killed before the rest.
    var mayGather = outputBytes == 0
    guard sendOutput() else { return pumpBlocked() }
    let hasBegun =
      (subscribed.costlyCount > 0 || openViews?.all.isEmpty == false)
      && context.time.begin(for: user)
    defer { if hasBegun { context.time.end() } }
    if !followUps.answers.isEmpty { answerPostponed() }
    var (isMore, chunks) = (true, 0)
    // Changes wait for the next turn if other clients of the user have used up its share. Answers do
    // not.
    let isPaced = context.isUsedUp(by: user)
    while isMore, !isEnded, outputBytes == 0 {
      // A client that reads as fast as the daemon writes must not starve the others.
      guard chunks < ConnectionContext.chunksPerTurn, chunks == 0 || !context.isTimeUp else {
        context.postpone(self)
        break
      }
      (isMore, chunks) = (false, chunks + 1)
      held.release(upTo: context.position, to: &context.scratch)
      goOnBehindAnswers()
      if isPaced {
        if subscribed.all.contains(where: \.isDirty) || openViews?.isEmpty == false {
          context.postpone(self, isFirst: true)
        }
      } else {
        if subscribed.costlyCount > 0 {
          isMore = fillInTurn()
        } else if !fillAll() {
          isMore = true
        }
        if let openViews, !openViews.isEmpty, !openViews.fill(&context.scratch) { isMore = true }
      }
      if mayGather, !isMore, gather() { return }
      mayGather = false
      sendScratch()
    }
    endDue()
  }

  /// Does what follows after everything due was sent.
  func endDue() {
    guard !isEnded else { return }
    if !lateCalls.syncs.isEmpty { answerSyncs() }
    if !held.isEmpty { context.await(self) }
    if !followUps.answers.isEmpty, outputBytes == 0 { context.postpone(self) }
    updateBuffered()
    resume()
    updateReading()
    endIfDone()
  }

  /// Appends the updates of all subscriptions that have some, up to about a chunk.
  ///
  /// - Returns: Whether nothing is left.
  private func fillAll() -> Bool {
    var isDone = true
    for subscription in subscribed.all where subscription.isDirty && !subscription.isInBatch {
      guard context.scratch.count < chunkSize else { return false }
      if !fill(from: subscription) { isDone = false }
    }
    return isDone
  }

  /// Appends updates like ``fillAll()`` until the client's slice is over, and goes on there next time.
  ///
  /// - Returns: Whether something is left.
  private func fillInTurn() -> Bool {
    let all = subscribed.all
    var isMore = false
    for i in all.indices {
      let place = (subscribed.next + i) % all.count
      let subscription = all[place]
      guard subscription.isDirty, !subscription.isInBatch else { continue }
      guard context.scratch.count < chunkSize, i == 0 || !context.isTimeUp else {
        subscribed.next = place
        return true
      }
      if !fill(from: subscription) { isMore = true }
    }
    return isMore
  }

  /// - Returns: Whether nothing is left.
  private func fill(from subscription: Subscription) -> Bool {
    let isDone = subscription.fill(&context.scratch)
    if isDone { subscription.isDirty = false }
    if subscription.isOver { remove(subscription) }
    return isDone
  }

  /// Moves durable answers to the pending output of a blocked client, so that bytes and not the
  /// number of answers limit its requests.
  private func pumpBlocked() {
    guard !isEnded else { return }
    if subscribed.costlyCount > 0, context.time.begin(for: user) {
      // The others collect in a later turn.
      for subscription in subscribed.all where subscription.isDirty && !context.time.isUpNow() {
        subscription.catchUp()
      }
      context.time.end()
    }
    if outputBytes < outputSoft, !held.inOrder.isEmpty {
      held.inOrder.release(upTo: context.position, to: &output.tail)
      if !held.inOrder.isEmpty { context.await(self) }
      resume()
    }
    updateBuffered()
    updateReading()
  }

  /// Runs the actions that wait for all earlier answers to be sent.
  private func goOnBehindAnswers() {
    guard !followUps.actions.isEmpty, held.isEmpty else { return }
    for action in followUps.removeActions() { action() }
  }

  /// Closes the connection of a client that sends requests but does not read the answers.
  private func checkOutput() {
    if outputBytes > max(context.limits.outputHard, context.limits.outputSoft + lineOut) {
      close(.outQueueFull)
    }
  }

  /// Replaces the answers to lost writes by an error.
  func reject(_ error: WireError) {
    let count = held.reject(after: context.position, error)
    if count > 0 { context.traffic.countRefusal(error.name, count) }
    writtenPosition = min(writtenPosition, context.position)
    list()
  }

  /// Sets the position of the events recorded at the end of the turn.
  package func decide(at position: UInt64) {
    held.inOrder.decide(at: position)
    intake.batch?.answer.decide(at: position)
    recordWrite(upTo: position)
    list()
  }

  /// Replaces the answers to events that were not recorded by an error, which waits for `position`.
  package func refuseUndecided(at position: UInt64, _ error: WireError) {
    let count = held.inOrder.refuseUndecided(at: position, error)
    if count > 0 { context.traffic.countRefusal(error.name, count) }
    intake.batch?.answer.refuseUndecided(at: position, error)
    list()
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

extension Connection: GatheredClient {
  func beginGatheredSending() { context.handover?.markCut(self) }

  func endGatheredSending() {
    serve {
      endGathered()
      endDue()
    }
  }
}

/// The memory that the daemon holds for a client and for all clients of its user.
///
/// While a user exceeds `buffered_user`, the daemon buffers only a few KiB for each of that user's
/// clients. It reads from a client only when the client has taken its answers, refuses longer lines
/// and answers, and sends subscription updates in small chunks.
extension Connection {
  /// The bytes of pending output at which the daemon stops reading from the client.
  var outputSoft: Int {
    isCrowded ? min(Self.crowdedBytes, context.limits.outputSoft) : context.limits.outputSoft
  }

  /// Updates the memory count of this client.
  ///
  /// Call it after every change.
  func updateBuffered() {
    guard !isEnded else { return }
    let bytes =
      input.keptBytes + outputBytes + held.byteCount + intake.batchBytes + forwarded.bytes
    user.bufferedBytes += bytes - bufferedBytes
    bufferedBytes = bytes
  }

  /// Refuses a long incomplete line if the user exceeds the memory limit.
  func refuseLongLine() {
    guard isCrowded, input.isWithinLine, input.keptBytes > Self.crowdedBytes else { return }
    input.drop()
    refuse(.null, .limit(.bufferedPerUser, limits, .overloaded))
    updateBuffered()
  }

  /// Returns the error that replaces an answer of `size` bytes, or `nil` if the answer fits.
  func refusal(ofAnswerWith size: Int) -> WireError? {
    guard isCrowded, size > Self.crowdedBytes else { return nil }
    return .limit(.bufferedPerUser, limits, .overloaded)
  }

  /// The bytes available for the next answer outside of a batch.
  var room: Int { isCrowded ? min(lineOut, Self.crowdedBytes) : lineOut }

  /// Calls `answer` now, or later if too much output is pending.
  ///
  /// Use it for answers to late calls, many of which may complete at once.
  package func whenTaken(_ answer: @escaping () -> Void) {
    guard !isEnded else { return }
    guard !followUps.answers.isEmpty || outputBytes >= outputSoft else { return answer() }
    followUps.answers.append(answer)
  }

  /// Gives the postponed answers while there is room for output.
  func answerPostponed() {
    var next = 0
    while next < followUps.answers.count, outputBytes < outputSoft {
      followUps.answers[next]()
      next += 1
    }
    followUps.answers.removeFirst(min(next, followUps.answers.count))
  }
}

extension Connection {
  /// Answers a call once all frames up to a position were written before its answer.
  ///
  /// - Parameter call: A late call.
  package func sync(_ call: Call, at position: UInt64) {
    lateCalls.appendSync(call, at: position)
    list()
  }

  /// Answers the sync calls whose position is reached.
  ///
  /// Requires that all due frames were written.
  func answerSyncs() {
    // The subscriptions do not know of these changes yet.
    guard !context.broadcasts.hasChanges else { return list() }
    for (position, call) in lateCalls.removeSyncs() where !call.isOver {
      guard position <= context.position, held.inOrder.isEmpty,
        subscribed.all.allSatisfy({ $0.hasShown(position) }),
        openViews?.all.allSatisfy({ !$0.delivery.isDirty && !$0.delivery.hasMore }) ?? true
      else {
        lateCalls.appendSync(call, at: position)
        continue
      }
      call.answer { $0.object { $0.member("seq", context.position) } }
    }
    if !lateCalls.syncs.isEmpty { context.await(self) }
  }
}
