internal import JSON
internal import Wire

extension Connection {
  /// Takes bytes from the client and runs what is complete.
  package func receive(_ bytes: Span<UInt8>) {
    guard !isEnded else { return }
    process { input in input.feed(bytes) { take($0) } }
    if let dropped = input.dropped, dropped > limits.flood { close(.lineTimeout, .flood) }
  }

  /// The client will send no more; it may still read.
  package func receiveEnd() {
    guard !isEnded, !isAtEnd else { return }
    isAtEnd = true
    process { _ in }
    endIfDone()
  }

  /// Goes on with what was left for later.
  func resume() {
    guard let parked, !isEnded else { return }
    switch parked {
    case .output where outputBytes > 0: return
    case .durability where hasUndurableWrites || isHoldingEnough: return hub.await(self)
    case .output, .durability: break
    }
    self.parked = nil
    process { input in input.resume { take($0) } }
  }

  /// Whether as many answers wait for the journal as may.
  private var isHoldingEnough: Bool {
    held.count >= limits.held || held.byteCount >= limits.outputSoft
  }

  /// Runs lines, sends their answers, and goes on as long as nothing stands in the way.
  private func process(_ body: (inout LineSplitter) -> Void) {
    hub.current = self
    body(&input)
    finishIfAtEnd()
    hub.current = nil
    sendScratch()
    updateReading()
    notePartialLine()
    // A client that takes its output as it comes is not left waiting for a reason to go on.
    if parked == .output { resume() }
  }

  /// Runs a last line without LF.
  private func finishIfAtEnd() {
    guard isAtEnd, !input.isParked, !isEnded else { return }
    input.finish { take($0) }
  }

  /// Runs one line.
  private func take(_ line: Span<UInt8>?) -> LineSplitter.Verdict {
    guard !isEnded else { return .done }
    guard hub.scratch.count + outputBytes < limits.outputSoft else { return park(.output) }
    guard !isHoldingEnough else { return park(.durability) }
    guard let line else {
      refuse(.null, .limit(.lineIn, limits, .lineTooLong))
      return .done
    }
    var scanner = JSONScanner(line)
    guard let first = scanner.peek() else { return .done }  // a blank line
    if first == UInt8(ascii: "[") { return takeBatch(line) }
    do throws(Request.Fault) {
      let request = try Request(parsing: line, limits: limits)
      badLines = 0
      return run(request, line, batch: nil, index: 0)
    } catch {
      noteBadLine(error)
      return .done
    }
  }

  private func takeBatch(_ line: Span<UInt8>) -> LineSplitter.Verdict {
    do throws(Request.Fault) {
      let requests = try Batch.parse(line, limits: limits)
      badLines = 0
      let (answer, next) =
        batch ?? (answer: BatchAnswer(count: requests.count, for: self), next: 0)
      for i in next..<requests.count {
        switch requests[i] {
        case .failure(let fault):
          answer.set(i, fault.id, after: 0, isLate: false) {
            Frame.error(fault.error, fault.id, &$0)
          }
        case .success(let request):
          guard run(request, line, batch: answer, index: i) == .done else {
            batch = (answer, i)
            return .later
          }
        }
      }
      batch = nil
      return .done
    } catch {
      noteBadLine(error)
      return .done
    }
  }

  private func run(
    _ request: Request, _ line: Span<UInt8>, batch: BatchAnswer?, index: Int
  ) -> LineSplitter.Verdict {
    hub.requests += 1
    let call = Call(connection: self, id: request.id, batch: batch, index: index)
    guard let onRequest else {
      call.refuse(WireError(.internalError, "nobody answers here"))
      return .done
    }
    runningBatch = batch
    defer { runningBatch = nil }
    guard onRequest(call, request, line) == .done else {
      if parkedSince == nil { parkedSince = hub.now() }
      return park(.durability)
    }
    parkedSince = nil
    return .done
  }

  private func park(_ reason: Parking) -> LineSplitter.Verdict {
    parked = reason
    if reason == .durability { hub.await(self) }
    return .later
  }

  private func noteBadLine(_ fault: Request.Fault) {
    refuse(fault.id, fault.error)
    badLines += 1
    if badLines >= limits.badLines {
      sendScratch()
      close(.protocolAbuse)
    }
  }

  private func refuse(_ id: RequestID, _ error: WireError) {
    emit(after: 0, to: .request(id), isLate: false) { Frame.error(error, id, &$0) }
  }

  /// A line that has begun must end in time.
  private func notePartialLine() {
    guard !isEnded, input.isWithinLine else {
      partialSince = nil
      return
    }
    if partialSince == nil { partialSince = hub.now() }
    hub.monitor(self)
  }

  func updateReading() {
    transport?.setReading(
      !input.isParked && !hub.isStopping && outputBytes < limits.outputSoft)
  }
}
