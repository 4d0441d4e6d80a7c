internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// Calls, and the answers of providers to them.
extension Programs {
  /// Passes a call to a provider; the provider answers it.
  ///
  /// - Parameter params: A JSON object.
  func call(
    _ method: ProvidedService.Method, _ params: Span<UInt8>, _ call: Call, by caller: Peer
  ) {
    let name = method.service
    guard let service = service(name), !service.providers.isEmpty else {
      return call.refuse(.unavailable(name, "nobody provides it"))
    }
    guard let provider = next(of: service, for: params.count) else {
      return call.refuse(
        .unavailable(name, "no provider reads its calls, or takes lines of this length"))
    }
    guard let call = call.later() else { return }
    // It may take effect outside of the daemon.
    call.markBegun()
    lastCall += 1
    let open = OpenCall(lastCall, method, .waits(call), provider, self)
    self.open[lastCall] = open
    send(open, params, uid: caller.uid, pid: caller.pid)
    call.keep(open)
  }

  /// Returns the provider with the fewest open calls, in turn; `nil` if none has room.
  ///
  /// It compares a few that have room: to look at all of many would cost more than it gains.
  private func next(of service: Service, for bytes: Int) -> Provider? {
    let count = service.providers.count
    var best: Provider?
    var compared = 0
    for i in 0..<count where compared < Self.maxCompared {
      let provider = service.providers[(service.turn &+ i) % count]
      guard provider.hasRoom(for: bytes) else { continue }
      compared += 1
      if best.map({ provider.openCount < $0.openCount }) ?? true { best = provider }
      if provider.openCount == 0 { break }
    }
    service.turn = (service.turn + 1) % count
    return best
  }

  private static let maxCompared = 8

  /// Sends a call to its provider.
  func send(_ call: OpenCall, _ params: Span<UInt8>, uid: UInt32, pid: Int32) {
    call.provider.begin(call)
    if call.isQueued { keep(call) }
    call.provider.connection.notifyNow("call") { buffer in
      let kind: StaticString = call.isQueued ? "\"q" : "\"c"
      buffer.key("call")
      buffer.append(kind)
      buffer.append(integer: call.number)
      buffer.append(UInt8(ascii: "\""))
      buffer.member("method", call.method.name)
      buffer.key("params")
      buffer.append(params)
      buffer.object("caller") {
        $0.member("uid", Int(uid))
        $0.member("pid", Int(pid))
      }
    }
  }

  /// Closes a call that its caller has given up, or that is answered.
  func close(_ call: OpenCall) {
    guard !call.isDisposed else { return }
    call.isDisposed = true
    if call.isQueued {
      openQueued[call.number] = nil
      if call.provider.connection.isKept {
        call.provider.connection.drop(.call, String(call.number))
      }
    } else {
      open[call.number] = nil
    }
    call.provider.end(call)
    dropIfDone(call.provider)
  }

  /// Ends a call that its provider has not answered in time.
  func expire(_ call: OpenCall) {
    close(call)
    let provider = call.provider
    let why = "its provider has not answered within \(provider.terms.wait) ms"
    switch call.caller {
    case .waits(let waiting): waiting.refuse(.unavailable(call.method.service, why))
    case .queued:
      giveBack(call, why)
      guard let service = services[call.method.service] else { return }
      // Others get it first.
      if let i = service.providers.firstIndex(where: { $0 === provider }) {
        service.providers.append(service.providers.remove(at: i))
      }
      deliverQueued(service)
    }
  }

  // MARK: Answers

  /// The answer of a provider to a call.
  struct Reply {
    let value: JSONText?
    let error: String?
    let events: [(source: String, value: JSONText?)]
    let publish: [(source: String, value: JSONText?)]
  }

  /// Returns the open call with a name such as `c7` or `q7` that a connection works on.
  func find(_ id: Span<UInt8>, of connection: Connection) -> OpenCall? {
    guard id.count > 1, id.count < 20 else { return nil }
    var number: UInt64 = 0
    for i in 1..<id.count {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= id[i] else { return nil }
      number = number &* 10 &+ UInt64(id[i] &- UInt8(ascii: "0"))
    }
    let call =
      switch id[0] {
      case UInt8(ascii: "c"): open[number]
      case UInt8(ascii: "q"): openQueued[number]
      default: nil as OpenCall?
      }
    guard let call, call.provider.connection === connection else { return nil }
    return call
  }

  /// Answers a call.
  ///
  /// - Returns: The result of the command; `nil` if nothing was to record.
  /// - Throws: ``WireError``: `not_found` if the provider has no such call, or not any more.
  func reply(
    to id: String, _ reply: Reply, _ command: Command, _ context: CallContext
  ) throws(WireError) -> Accepted? {
    do throws(Refusal) {
      if let done = try host.repetition(of: command) { return done }
    } catch {
      throw context.access.error(error)
    }
    guard let call = find(id.utf8.span, of: context.connection) else {
      throw .notFound("call", id.cut(toBytes: 64), didYouMean: nil)
    }
    for (place, values) in [("events", reply.events), ("publish", reply.publish)] {
      for (i, entry) in values.enumerated() {
        try check(entry.source, of: call.method.service, "/\(place)/\(i)/source")
        let target = (place == "events" ? "\(Self.name)/" : "\(live.service)/") + entry.source
        guard context.role.mayWrite(target) else { throw context.access.notWritable(target) }
        if place == "events" { try Self.check(entry.value, "/events/\(i)/value") }
      }
    }
    if let fault = fault(in: reply, to: call) {
      // The provider can do no better; the caller must not wait for it.
      fail(call, "its provider has answered with \(fault.why)")
      throw fault.error
    }
    // After the record nothing can refuse the reply.
    let owner = context.connection.peer.uid
    try live.check(reply.publish, by: owner)
    let accepted = try record(call, reply, command, context)
    for (source, value) in reply.publish { live.publish(source, value, by: owner) }
    close(call)
    switch call.caller {
    case .queued: services[call.method.service].map(deliverQueued)
    case .waits(let waiting):
      let position = context.connection.writtenPosition
      if let message = reply.error {
        let error = WireError(.rejected, message, ["reason": .string("by_provider")])
        waiting.refuse(error, after: position)
      } else {
        waiting.answer(after: position) { buffer in
          buffer.object { $0.member("value", reply.value ?? .null) }
        }
      }
    }
    return accepted
  }

  /// Answers a direct call with a value alone.
  ///
  /// - Returns: Whether it was answered. If not, ``reply(to:_:_:_:)`` does it or finds the fault.
  func reply(to id: Span<UInt8>, _ value: Span<UInt8>, _ connection: Connection) -> Bool {
    guard let call = find(id, of: connection), call.method.result == nil,
      case .waits(let waiting) = call.caller
    else { return false }
    close(call)
    waiting.answer(after: connection.writtenPosition) { buffer in
      buffer.object { buffer in
        buffer.key("value")
        buffer.append(value)
      }
    }
    return true
  }

  /// Returns the reason why a reply can never be taken; `nil` if there is none.
  private func fault(in reply: Reply, to call: OpenCall) -> (why: String, error: WireError)? {
    if call.isQueued {
      do throws(WireError) {
        try Self.check(reply.value, "/value")
      } catch {
        return ("a value that is too long", error)
      }
    }
    guard reply.error == nil, let fault = Self.fault(in: reply.value ?? .null, of: call.method)
    else { return nil }
    let error = WireError(
      JSONDecodingError(path: "/value" + fault.path, expected: fault.expected, got: fault.got))
    return ("a value of another type", error)
  }

  private static func fault(
    in value: JSONText, of method: ProvidedService.Method
  ) -> JSONSchema.Fault? {
    guard let schema = method.result else { return nil }
    let parts = JSONSchema.parts(of: value.text.utf8.span)
    guard parts <= JSONSchema.maxParts else {
      return JSONSchema.Fault(
        path: "", expected: "at most \(JSONSchema.maxParts) elements and members", got: "\(parts)")
    }
    return schema.fault(in: value.value)
  }

  /// Ends a call whose reply was refused, so that its caller does not wait in vain.
  ///
  /// After an error that may pass, such as a conflict, the provider can reply again.
  func end(_ id: String, afterRefusing error: WireError, _ connection: Connection) {
    guard !error.retry, let call = find(id.utf8.span, of: connection) else { return }
    fail(call, "the reply of its provider was refused: \(error.message)")
  }

  /// Ends a call with an error of the daemon.
  private func fail(_ call: OpenCall, _ why: String) {
    close(call)
    switch call.caller {
    case .waits(let waiting): waiting.refuse(.unavailable(call.method.service, why))
    case .queued:
      if !answer(call.number, of: call.method.service, why) { giveBack(call, why) }
      services[call.method.service].map(deliverQueued)
    }
  }

  private func check(
    _ source: String, of service: String, _ path: String
  ) throws(WireError) {
    let rule =
      source.hasPrefix(service + "/")
      ? SourceName.fault(in: source, of: Self.name) : "a source of the service: \(service)/…"
    if let rule {
      throw WireError(JSONDecodingError(path: path, expected: rule, got: "'\(source)'"))
    }
  }

  /// Checks a value that the journal is to keep.
  static func check(_ value: JSONText?, _ path: String) throws(WireError) {
    guard let value, let fault = ValueFault(value) else { return }
    throw WireError(
      JSONDecodingError(path: path, expected: fault.expected, got: "\(value.text.utf8.count) bytes")
    )
  }

  /// Records the events of a reply and the end of a queued call, all or none.
  private func record(
    _ call: OpenCall, _ reply: Reply, _ command: Command, _ context: CallContext
  ) throws(WireError) -> Accepted? {
    let hasOptions =
      command.id != nil || !command.expectations.isEmpty || command.lease != nil
    guard call.isQueued || !reply.events.isEmpty || hasOptions else { return nil }
    var command = command
    if call.isQueued { command.cause = Command.Cause(seq: call.number) }
    let accepted: Accepted
    do throws(Refusal) {
      accepted = try host.perform(command) {
        for (source, value) in reply.events { set("services/\(source)", value) }
        if call.isQueued {
          host.recordingLeases {
            ledger.record(
              .answered(call: call.number, value: reply.value, error: reply.error),
              in: "services/\(call.method.service)")
          }
        }
        return nil
      }
    } catch {
      throw context.access.error(error)
    }
    context.connection.recordWrite(upTo: host.last)
    return accepted
  }

  /// Sets or removes a journaled value; call it within a command.
  func set(_ source: String, _ value: JSONText?) {
    if let value {
      ledger.record(.set(value: value), in: source)
    } else if ledger.pending.has(source) {
      ledger.record(.removed, in: source)
    }
  }
}
