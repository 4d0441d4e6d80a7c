internal import API
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Wire

/// Queued calls: events that are delivered until a provider answers them.
extension Programs {
  /// The most queued calls of a service.
  static let maxQueued = 10_000

  /// The most parked calls of a service; another one is answered with an error.
  private static let maxParked = 1_000

  /// Records a queued call; call it within a command.
  func queue(
    _ method: ProvidedService.Method, _ params: JSONText, by caller: Peer
  ) throws(ProgramsError) -> UInt64 {
    let service = method.service
    guard ledger.pending.count(of: service) < Self.maxQueued else {
      throw .tooManyQueued(service: service, max: Self.maxQueued)
    }
    let most = host.roleLimits.limit(.queuedPerUser, of: caller.uid, common: maxQueuedPerUser)
    guard
      ledger.pending.count(queuedBy: caller.uid) < most || host.owners.contains(caller.uid)
    else { throw .tooManyOfUser(max: most) }
    ledger.record(
      .called(method: method.name, params: params, uid: caller.uid, pid: caller.pid),
      in: "services/\(service)")
    return host.last
  }

  // MARK: Delivery

  /// Notes a queued call that is durable now.
  func enqueue(_ seq: UInt64, of name: String, by user: UInt32) {
    guard let service = services[name] else { return }
    service.queue?.append(seq)
    deliverLater(service, for: user)
  }

  /// Notes parked calls that are to be delivered again: one, or all for `nil`.
  func deliverAgain(_ call: UInt64?, of name: String) {
    guard let service = services[name] else { return }
    if let call { service.queue?.giveBack(call) } else { service.queue = nil }
    deliverLater(service)
  }

  /// Returns the next call of a service that waits for a provider.
  private func next(of service: Service) -> (seq: UInt64, call: ProvidedValues.Waiting)? {
    let name = service.definition.name
    var queue =
      service.queue
      ?? CallQueue(ledger.committed.waitingCalls(of: name).filter { openQueued[$0] == nil })
    service.queue = nil  // so that it is not copied
    defer { service.queue = queue }
    while let seq = queue.first {
      // One that is answered or parked, though not durably, is not delivered again.
      if let call = ledger.pending.call(seq, of: name), call.parked == nil, openQueued[seq] == nil {
        return (seq, call)
      }
      queue.removeFirst()
    }
    return nil
  }

  /// Gives queued calls to providers that have none, the oldest first.
  func deliverQueued(_ service: Service) {
    while deliverNext(of: service) {}
  }

  /// Gives the oldest queued call of a service to a provider that has none.
  ///
  /// - Returns: Whether there were both.
  func deliverNext(of name: String) -> Bool { services[name].map(deliverNext) ?? false }

  private func deliverNext(of service: Service) -> Bool {
    let name = service.definition.name
    guard service.providers.contains(where: { !$0.hasQueued && $0.hasRoom(for: 0) }),
      let (seq, call) = next(of: service)
    else { return false }
    let short = String(call.method.drop { $0 != "." }.dropFirst())
    let bytes = call.params.text.utf8.count
    guard let method = service.definition.methods[short] else {
      return answer(seq, of: name, "the service has no method '\(short)' any more")
    }
    guard
      let provider = service.providers.first(where: { !$0.hasQueued && $0.hasRoom(for: bytes) })
    else {
      // If it waited for a provider with longer lines, it would hold up all others.
      guard service.providers.allSatisfy({ bytes > $0.longest }) else { return false }
      return answer(seq, of: name, "no provider takes lines of this length")
    }
    service.queue?.removeFirst()
    service.deliveries[seq, default: 0] += 1
    let open = OpenCall(seq, method, .queued, provider, self)
    openQueued[seq] = open
    send(open, call.params.text.utf8.span, uid: call.uid, pid: call.pid)
    return true
  }

  /// Keeps a call over a restart of the daemon, while a provider works on it.
  func keep(_ call: OpenCall) {
    guard call.provider.connection.isKept else { return }
    call.provider.connection.keep(
      .call, String(call.number), JSONText(string: call.method.name))
  }

  /// Gives a provider a queued call back that it had with an earlier daemon.
  func resume(_ item: HandoverItem, _ context: CallContext) {
    guard let seq = UInt64(item.key), case .string(let name) = item.text.value,
      let point = name.firstIndex(of: "."), let service = service(String(name[..<point])),
      let method = service.definition.methods[String(name[point...].dropFirst())],
      let provider = service.providers.first(where: { $0.connection === context.connection }),
      ledger.pending.call(seq, of: service.definition.name)?.parked == nil, openQueued[seq] == nil,
      ledger.pending.call(seq, of: service.definition.name) != nil
    else { return }
    let open = OpenCall(seq, method, .queued, provider, self)
    openQueued[seq] = open
    service.deliveries[seq, default: 0] += 1
    provider.begin(open)
    keep(open)
  }

  /// Delivers a call again that its provider has not answered, or parks it after too many
  /// deliveries.
  func giveBack(_ call: OpenCall, _ reason: String) {
    let name = call.method.service
    guard let service = services[name] else { return }
    let count = service.deliveries[call.number] ?? 0
    service.queue?.giveBack(call.number)
    guard count >= call.provider.terms.maxDeliveries,
      ledger.pending.call(call.number, of: name) != nil
    else { return }
    guard ledger.pending.parkedCount(of: name) < Self.maxParked else {
      answer(call.number, of: name, "\(reason), in \(count) deliveries")
      return
    }
    // If the journal takes nothing, the call is delivered again.
    record(.parked(call: call.number, reason: reason, deliveries: count), of: name)
  }

  /// Answers a queued call with an error of the daemon.
  ///
  /// - Returns: Whether the journal takes it; if not, the call stays until the next delivery.
  @discardableResult
  func answer(_ seq: UInt64, of name: String, _ error: String) -> Bool {
    record(.answered(call: seq, value: nil, error: error), of: name)
  }

  @discardableResult
  private func record(_ event: ProvidedEvent, of name: String) -> Bool {
    do throws(Refusal) {
      _ = try host.perform(Command(method: "services.answer", caller: host.daemon)) {
        ledger.record(event, in: "services/\(name)")
        return nil
      }
      return true
    } catch {
      return false
    }
  }

  // MARK: Parked calls

  /// Delivers one or all parked calls of a service again; call it within a command.
  ///
  /// - Returns: Their number.
  func retry(_ call: UInt64?, of name: String) throws(ProgramsError) -> Int {
    let parked = try parked(call, of: name)
    if !parked.isEmpty { ledger.record(.retried(call: call), in: "services/\(name)") }
    return parked.count
  }

  /// Ends one or all parked calls of a service with an error; call it within a command.
  ///
  /// - Returns: Their number.
  func drop(_ call: UInt64?, of name: String) throws(ProgramsError) -> Int {
    let parked = try parked(call, of: name)
    for seq in parked {
      ledger.record(
        .answered(call: seq, value: nil, error: "the call was dropped"), in: "services/\(name)")
    }
    return parked.count
  }

  private func parked(_ call: UInt64?, of name: String) throws(ProgramsError) -> [UInt64] {
    guard ledger.pending.declaration(of: name) != nil else { throw .unknownService(name) }
    guard let call else { return ledger.pending.parkedCalls(of: name) }
    guard ledger.pending.call(call, of: name)?.parked != nil else { throw .notParked(call) }
    return [call]
  }
}
