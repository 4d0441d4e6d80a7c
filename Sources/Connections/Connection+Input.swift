internal import JSON
internal import Wire

extension Connection {
  /// Processes bytes from the client and runs the requests that they complete.
  package func receive(_ bytes: Span<UInt8>) {
    guard !isEnded else { return }
    context.traffic.receivedBytes &+= UInt64(bytes.count)
    process { input in input.feed(bytes) { run($0) } }
    refuseLongLine()
    if let dropped = input.dropped, dropped > limits.flood { close(.lineTimeout, .flood) }
  }

  /// Notes that the client has closed its sending side.
  ///
  /// It may still read.
  package func receiveEnd() {
    guard !isEnded, !link.isAtEnd else { return }
    link.isAtEnd = true
    process { _ in }
    endIfDone()
  }

  /// Runs the parked line, unless its reason to wait still holds.
  func resume() {
    guard let parked = intake.parked, !isEnded, !isGone else { return }
    switch parked {
    case .turn: return
    case .output where outputBytes > 0: return
    case .late where !hasRoomForLate: return
    case .work where intake.isAwaitingWork: return
    case .durability where hasUndurableWrites || isHoldingEnough: return context.await(self)
    case .output, .late, .work, .durability: break
    }
    // It is called while changes are delivered, for which the user has more time.
    guard context.isStopping || !context.time.isUsedUpForRequests(by: user) else {
      _ = park(.turn)
      return
    }
    process { goOn(&$0) }
  }

  /// Resumes a client that was interrupted at the end of its time slice, in a later turn.
  func continueInput() {
    guard intake.parked == .turn, !isEnded, !isGone else { return }
    process { goOn(&$0) }
    endIfDone()
  }

  /// Runs the input that an earlier daemon has read and not run.
  package func resumeInput() {
    if input.isParked, !isEnded { process { goOn(&$0) } }
  }

  private func goOn(_ input: inout LineSplitter) {
    intake.unpark()
    input.resume { run($0) }
  }

  /// Whether too many answers wait for the journal.
  private var isHoldingEnough: Bool { isHoldingEnough(for: bounds) }

  @inline(__always)
  private func isHoldingEnough(for bounds: RequestIntake.Bounds) -> Bool {
    held.inOrder.count >= bounds.held || held.inOrder.byteCount >= bounds.heldBytes
  }

  /// Checks the next lines against the present limits.
  ///
  /// Call it when limits change, or the user, because a line before them may have done that.
  func renewBounds() { intake.bounds = bounds }

  /// The bounds for the next lines.
  private var bounds: RequestIntake.Bounds {
    RequestIntake.Bounds(
      output: outputSoft, held: context.limits.held, heldBytes: context.limits.outputSoft,
      idBytes: context.limits.idBytes)
  }

  /// Runs lines and sends their answers.
  ///
  /// Stops when no line is left, a line is parked, or the client's time slice is over.
  private func process(_ body: (inout LineSplitter) -> Void) {
    let isServed = beginServing()
    defer { if isServed { endServing(hasSent: false) } }
    let hasBegun = context.time.begin(for: user)
    var isFirst = true
    repeat {
      renewBounds()
      context.current = ObjectIdentifier(self)
      if isFirst { body(&input) } else { goOn(&input) }
      isFirst = false
      finishIfAtEnd()
      context.current = nil
      sendScratch()
      // A client that reads all its output at once has no other event that would resume it.
    } while intake.parked == .output && outputBytes == 0 && !isEnded
    if hasBegun { context.time.end() }
    updateBuffered()
    updateReading()
    watchPartialLine()
  }

  /// Runs a last line without LF.
  private func finishIfAtEnd() {
    guard link.isAtEnd, !input.isParked, !isEnded else { return }
    input.finish { run($0) }
  }

  /// Runs one line.
  private func run(_ line: Span<UInt8>?) -> LineSplitter.Verdict {
    guard !isEnded else { return .done }
    guard let line else {
      refuse(.null, .limit(.lineIn, limits, .lineTooLong))
      return .done
    }
    guard !context.isTimeUp else { return park(.turn) }
    guard context.scratch.count &+ output.count < intake.bounds.output else {
      return park(.output)
    }
    guard !isHoldingEnough(for: intake.bounds) else { return park(.durability) }
    var scanner = JSONScanner(line)
    guard let first = scanner.peek() else { return .done }  // a blank line
    if first == UInt8(ascii: "[") { return runBatch(line) }
    // Kept, because the request may change the rights of the client.
    guard let handler else { return refuseUnhandled(line) }
    context.stages.begin()
    do throws(Request.Fault) {
      var request = Request()
      try handler.read(line, into: &request, idBytes: intake.bounds.idBytes)
      if context.stages.isRunning { context.stages.end(.parse) }
      intake.acceptLine()
      return run(request, line, by: handler, batch: nil, index: 0)
    } catch {
      context.stages.cancel()
      refuseLine(error)
      return .done
    }
  }

  /// Answers a request before the daemon handles any.
  private func refuseUnhandled(_ line: Span<UInt8>) -> LineSplitter.Verdict {
    do throws(Request.Fault) {
      let request = try Request(parsing: line, idBytes: intake.bounds.idBytes)
      intake.acceptLine()
      context.traffic.requests += 1
      requests += 1
      Call(connection: self, id: request.id(in: line)).refuse(.unhandled)
    } catch {
      refuseLine(error)
    }
    return .done
  }

  private func runBatch(_ line: Span<UInt8>) -> LineSplitter.Verdict {
    let begun: RunningBatch
    if let batch = intake.removeBatch() {
      begun = batch
    } else {
      do throws(Request.Fault) {
        let requests = try Batch.parse(line, limits: limits)
        intake.acceptLine()
        begun = RunningBatch(
          requests: requests, answer: BatchAnswer(to: requests, for: self))
      } catch {
        refuseLine(error)
        return .done
      }
    }
    for i in begun.next..<begun.requests.count {
      switch begun.requests[i] {
      case .failure(let fault):
        context.traffic.countRefusal(fault.error.name)
        begun.answer.set(i, fault.id, after: 0, isLate: false) {
          Frame.error(fault.error, fault.id, &$0)
        }
      case .success(let request):
        // `take` has checked the time for the first request of a slice.
        let isUp = i > begun.next && context.isTimeUp
        if !isUp { context.stages.begin() }
        // One of the requests may change the rights of the client, or end it.
        guard let handler else {
          context.stages.cancel()
          begun.answer.set(i, request.id(in: line), after: 0, isLate: false) {
            Frame.error(.unhandled, request.id(in: line) ?? .null, &$0)
          }
          continue
        }
        let verdict =
          isUp ? park(.turn) : run(request, line, by: handler, batch: begun.answer, index: i)
        guard verdict == .done else {
          intake.interrupt(begun, before: i)
          return .later
        }
      }
    }
    return .done
  }

  private func run(
    _ request: Request, _ line: Span<UInt8>, by handler: any RequestHandler,
    batch: BatchAnswer?, index: Int
  ) -> LineSplitter.Verdict {
    context.traffic.requests += 1
    requests += 1
    let call = Call(connection: self, id: request.id(in: line), batch: batch, index: index)
    if batch != nil { intake.runningBatch = batch }
    defer { if intake.runningBatch != nil { intake.runningBatch = nil } }
    if let reason = handler.handle(call, request, line) {
      context.stages.cancel()
      // It runs again.
      context.traffic.requests &-= 1
      requests &-= 1
      return park(reason)
    }
    if context.stages.isRunning { endMeasurement() }
    intake.endWaiting()
    return .done
  }

  /// Ends the measurement of a request.
  private func endMeasurement() {
    context.stages.finish()
    guard context.slowLog.isOn else { return }
    let stages = context.stages
    context.slowLog.add(
      stages.method, of: peer, clientName, afterMilliseconds: waitedMilliseconds, stages.durations,
      waitingFor: hasUndurableWrites ? writtenPosition : nil)
  }

  private func park(_ reason: Parking) -> LineSplitter.Verdict {
    intake.park(for: reason, at: context.now())
    switch reason {
    case .turn: context.time.append(self)
    case .durability: context.await(self)
    case .output, .late, .work: break
    }
    return .later
  }

  private func refuseLine(_ fault: Request.Fault) {
    refuse(fault.id, fault.error)
    if intake.countBadLine() >= limits.badLines {
      sendScratch()
      close(.protocolAbuse)
    }
  }

  func refuse(_ id: RequestID, _ error: WireError) {
    context.traffic.countRefusal(error.name)
    emit(after: 0, to: .request(id), isLate: false) { Frame.error(error, id, &$0) }
  }

  /// Monitors an incomplete line, which must be completed in time.
  private func watchPartialLine() {
    let isPartial = !isEnded && input.isWithinLine
    intake.setPartial(isPartial, at: context.now())
    if isPartial { context.monitor(self) }
  }

  func updateReading() {
    let wanted = !input.isParked && !context.isStopping && outputBytes < outputSoft
    if link.setReading(wanted) { link.transport?.setReading(wanted) }
  }
}

extension WireError {
  /// The error for requests before the daemon handles any.
  fileprivate static var unhandled: WireError {
    WireError(.internalError, "requests are not handled here")
  }
}
