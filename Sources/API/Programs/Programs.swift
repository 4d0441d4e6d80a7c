internal import Configuration
internal import Connections
package import EventSourcing
internal import Facts
internal import JSON
internal import Signals
internal import Wire

/// The services made of programs: which connections provide them, and the calls that they work on.
package final class Programs {
  /// The name of the service that keeps the values and queued calls.
  static let name = "services"

  /// The most queued calls of a service.
  static let maxQueued = 10_000

  /// The most providers and queued calls of one user who is not an administrator.
  package var maxProvidersPerUser = 1_000
  package var maxQueuedPerUser = 5_000

  /// The most services that one connection provides.
  private static let maxPerConnection = 64

  package let ledger: Ledger<ProvidedValues>

  /// The values of `providers/NAME`, and those that are not journaled.
  let providerValues = LiveValues("providers")
  let live = LiveValues("live")

  /// Makes a method that clients call.
  var makeMethod: (ProvidedService.Method) -> Method = { _ in preconditionFailure("not bound") }

  private let host: ServiceHost

  /// The services whose declarations were read, by name.
  private var services: [String: Service] = [:]

  /// The methods of these services, by full name.
  private var methods: [String: Method] = [:]

  /// The calls that providers work on, by number.
  private var open: [String: OpenCall] = [:]
  private var lastCall = 0

  /// The providers of each connection, also those that have withdrawn and still work on calls.
  private var providers: [ObjectIdentifier: [Provider]] = [:]

  /// The number of providers of each user.
  private var counts: [UInt32: Int] = [:]

  /// The services whose providers have changed in this turn.
  private var changed: Set<String> = []
  private let bag = DisposeBag()

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger(Self.name, in: host)
    ledger.happened.observeNext { [unowned self] event, place in
      let name = String(place.stream.dropFirst(Self.name.utf8.count + 1))
      switch event {
      case .called: deliverQueued(name)
      case .forgotten where ledger.newest.declaration(of: name) == nil: know(name, nil)
      case .set, .removed, .provided, .forgotten, .answered: break
      }
    }.dispose(in: bag)
  }

  // MARK: Finding

  /// Returns a service that a program has declared, also if nobody provides it now.
  private func service(_ name: String) -> Service? {
    if let known = services[name] { return known }
    guard let declared = ledger.newest.declaration(of: name),
      let definition = try? ProvidedService(name, declared)
    else { return nil }
    let service = Service(definition, makeMethod)
    know(name, service)
    return service
  }

  private func know(_ name: String, _ service: Service?) {
    for method in services[name]?.methods.values.map(\.name) ?? [] { methods[method] = nil }
    services[name] = service
    for method in service?.methods.values.map(\.self) ?? [] { methods[method.name] = method }
  }

  /// The methods for the catalog.
  var provided: ProvidedMethods {
    ProvidedMethods(
      method: { [unowned self] name in
        if let known = methods[name] { return known }
        guard let point = name.firstIndex(of: ".") else { return nil }
        return service(String(name[..<point]))?.methods[String(name[point...].dropFirst())]
      },
      service: { [unowned self] in service($0)?.shown },
      near: { [unowned self] name in
        ledger.neighbours(of: "\(Self.name)/\(name)", count: Self.nearCount).compactMap {
          service(String($0.dropFirst(Self.name.utf8.count + 1)))?.shown
        }
      },
      services: { [unowned self] in
        ledger.newest.declared.sorted().compactMap { service($0)?.shown }
      })
  }

  /// The services before and after an unknown name that suggestions come from.
  private static let nearCount = 4

  // MARK: Providers

  /// The most services that a user has declared, and the most methods of them together.
  private static let maxServices = 250
  private static let maxMethods = 1000

  /// Makes a connection a provider of a service, and records its declaration if that is new.
  func provide(
    _ definition: ProvidedService, _ context: CallContext, wait: Int
  ) throws(WireError) {
    let connection = context.connection
    let name = definition.name
    let known = service(name)
    let isNew = ledger.newest.declaration(of: name) != definition.declaration
    if isNew, known?.providers.isEmpty == false {
      throw .exists(name, "service '\(name)' is provided with other methods, sources or docs")
    }
    let key = ObjectIdentifier(connection)
    let own = providers[key] ?? []
    guard !own.contains(where: { $0.service == name && !$0.isWithdrawn }) else {
      throw .exists(name, "this connection provides '\(name)' already")
    }
    if isNew { try checkRoom(for: definition, by: connection.peer.uid) }
    guard own.count < Self.maxPerConnection else {
      throw .tooMany("a connection provides at most \(Self.maxPerConnection) services")
    }
    let uid = connection.peer.uid
    guard counts[uid] ?? 0 < maxProvidersPerUser || host.owners.contains(uid) else {
      throw .tooMany("a user has at most \(maxProvidersPerUser) providers (providers_user)")
    }
    if isNew { try declare(definition, context) }
    let service = isNew ? Service(definition, makeMethod) : known ?? Service(definition, makeMethod)
    know(name, service)
    let provider = Provider(
      name, connection, since: Timestamp(microseconds: host.now).text, wait: wait)
    service.providers.append(provider)
    if providers[key] == nil {
      connection.bag += BlockDisposable { [weak self] in self?.end(key) }
    }
    providers[key, default: []].append(provider)
    counts[uid, default: 0] += 1
    // It gets queued calls after the answer.
    noteChanged(service, connection.context)
  }

  /// Checks that a user may declare a service, also in place of one with the same name.
  private func checkRoom(
    for definition: ProvidedService, by uid: UInt32
  ) throws(WireError) {
    let others = ledger.newest.services(declaredBy: uid).filter { $0 != definition.name }
    guard others.count < Self.maxServices else {
      throw .tooMany("a user declares at most \(Self.maxServices) services; see services.forget")
    }
    let count = others.reduce(definition.methods.count) { $0 + (service($1)?.methods.count ?? 0) }
    guard count <= Self.maxMethods else {
      throw .tooMany("the services of a user have at most \(Self.maxMethods) methods together")
    }
  }

  /// Gives a connection no more calls of a service; it finishes those that it has.
  ///
  /// - Returns: Their number.
  func withdraw(_ name: String, _ context: CallContext) throws(WireError) -> Int {
    guard let service = services[name],
      let i = service.providers.firstIndex(where: { $0.connection === context.connection })
    else { throw .notFound("provider", name, didYouMean: nil) }
    let provider = service.providers.remove(at: i)
    provider.isWithdrawn = true
    noteChanged(service, context.connection.context)
    dropIfDone(provider)
    return provider.calls.count
  }

  /// Forgets a provider that has withdrawn and has answered all calls.
  private func dropIfDone(_ provider: Provider) {
    guard provider.isWithdrawn, provider.calls.isEmpty else { return }
    providers[ObjectIdentifier(provider.connection)]?.removeAll { $0 === provider }
    uncount(provider)
  }

  private func uncount(_ provider: Provider) {
    let uid = provider.connection.peer.uid
    counts[uid] = counts[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  /// Checks that a client may publish values of a service without a call: of one that a program has
  /// declared, only its providers and the user who has declared it.
  func checkPublishing(_ source: String, _ context: CallContext) throws(WireError) {
    let name = String(source.prefix { $0 != "/" })
    guard !context.catalog.isReserved(name) else {
      throw WireError(
        .rejected, "'\(name)' is a service of the daemon", ["reason": .string("reserved")])
    }
    guard let declarer = ledger.newest.declarer(of: name) else { return }
    let uid = context.caller.uid
    guard uid != declarer, !host.owners.contains(uid),
      !(providers[ObjectIdentifier(context.connection)] ?? []).contains(where: {
        $0.service == name
      })
    else { return }
    throw WireError(
      .rejected, "service '\(name)' belongs to its providers and to user \(declarer)",
      ["reason": .string("not_provider")])
  }

  private func declare(
    _ definition: ProvidedService, _ context: CallContext
  ) throws(WireError) {
    do throws(Refusal) {
      _ = try host.perform(context.command("provide")) {
        // The declaration stays when the connection ends, also if that has a lease.
        host.recordingLeases {
          let declaration = definition.declaration
          ledger.record(
            .provided(
              doc: declaration.doc, methods: declaration.methods, sources: declaration.sources,
              uid: context.connection.peer.uid),
            in: "services/\(definition.name)")
        }
        return nil
      }
    } catch {
      throw context.access.error(error)
    }
    context.connection.noteWritten(upTo: host.last)
  }

  /// Forgets the declaration of a service without providers, and its queued calls; call it within
  /// a command.
  func forget(_ name: String) throws(ProgramsError) {
    guard ledger.newest.declaration(of: name) != nil else { throw .unknownService(name) }
    guard services[name]?.providers.isEmpty != false else { throw .isProvided(name) }
    ledger.record(.forgotten, in: "services/\(name)")
    // Another client may declare it before the event is durable.
    know(name, nil)
  }

  /// Ends the providers of a connection.
  private func end(_ connection: ObjectIdentifier) {
    for provider in providers.removeValue(forKey: connection) ?? [] {
      remove(provider)
      uncount(provider)
    }
  }

  private func remove(_ provider: Provider) {
    let name = provider.service
    let service = services[name]
    if !provider.isWithdrawn, let i = service?.providers.firstIndex(where: { $0 === provider }) {
      service?.providers.remove(at: i)
    }
    let isStopping = provider.connection.context.isStopping
    for id in provider.calls.sorted() {
      guard let call = open.removeValue(forKey: id) else { continue }
      call.timer?.dispose()
      guard case .waits(let waiting) = call.caller, !isStopping else { continue }
      waiting.refuse(.unavailable(name, "its provider has ended during the call"))
    }
    if !isStopping, let service { noteChanged(service, provider.connection.context) }
  }

  /// Shows the providers of a service, and gives them queued calls, at the end of the turn: once, also
  /// if many come or go.
  private func noteChanged(_ service: Service, _ context: ConnectionContext) {
    let isFirst = changed.isEmpty
    guard changed.insert(service.definition.name).inserted, isFirst else { return }
    context.atTurnEnd { [weak self] in self?.showChanged() }
  }

  private func showChanged() {
    let names = changed.sorted()
    changed = []
    for name in names {
      if let service = services[name] { show(service) }
      deliverQueued(name)
    }
  }

  /// The most providers that a value lists.
  private static let maxListed = 32

  private func show(_ service: Service) {
    let name = service.definition.name
    guard !service.providers.isEmpty else { return providerValues.set("providers/\(name)", nil) }
    var text = ByteBuffer()
    text.object {
      $0.member("doc", service.definition.declaration.doc)
      $0.array("providers") { text in
        for provider in service.providers.prefix(Self.maxListed) {
          text.separate()
          text.object {
            $0.member("uid", Int(provider.connection.peer.uid))
            $0.member("pid", Int(provider.connection.peer.pid))
            $0.member("program", provider.connection.peer.program)
            $0.member("since", provider.since)
          }
        }
      }
      $0.member("providers_count", service.providers.count)
    }
    providerValues.set("providers/\(name)", JSONText(kept: text.string))
  }

  /// The number of providers of a service.
  func providers(of name: String) -> Int { services[name]?.providers.count ?? 0 }

  // MARK: Calls

  /// Passes a call to a provider; the provider answers it.
  func call(
    _ method: ProvidedService.Method, _ params: JSONText, _ call: Call, _ context: CallContext
  ) {
    let name = method.service
    guard let service = service(name), !service.providers.isEmpty else {
      return call.refuse(.unavailable(name, "nobody provides it"))
    }
    guard let provider = next(of: service, for: params) else {
      return call.refuse(
        .unavailable(name, "no provider reads its calls, or takes lines of this length"))
    }
    guard let call = call.later() else { return }
    // It may take effect outside of the daemon.
    call.noteBegun()
    let peer = context.caller
    let id = send(method, params, uid: peer.uid, pid: peer.pid, .waits(call), provider)
    call.keep(BlockDisposable { [weak self] in self?.close(id) })
  }

  /// Returns the provider with the fewest open calls, in turn; `nil` if none has room.
  ///
  /// It compares a few that have room: to look at all of many would cost more than it gains.
  private func next(of service: Service, for params: JSONText) -> Provider? {
    let bytes = params.text.utf8.count
    var best: Provider?
    var compared = 0
    for i in 0..<service.providers.count where compared < Self.maxCompared {
      let provider = service.providers[(service.turn + i) % service.providers.count]
      guard provider.hasRoom(for: bytes) else { continue }
      compared += 1
      if best.map({ provider.calls.count < $0.calls.count }) ?? true { best = provider }
      if provider.calls.isEmpty { break }
    }
    service.turn += 1
    return best
  }

  private static let maxCompared = 8

  private func send(
    _ method: ProvidedService.Method, _ params: JSONText, uid: UInt32, pid: Int32,
    _ caller: OpenCall.Caller, _ provider: Provider
  ) -> String {
    let id: String
    switch caller {
    case .queued(let seq): id = "q\(seq)"
    case .waits:
      lastCall += 1
      id = "c\(lastCall)"
    }
    let call = OpenCall(method, caller, provider)
    open[id] = call
    provider.calls.insert(id)
    if case .queued = caller { provider.hasQueued = true }
    call.timer = provider.connection.context.scheduler.schedule(
      after: Double(provider.wait) / 1000
    ) { [unowned self] in expire(id) }
    provider.connection.notify("call") {
      $0.member("call", id)
      $0.member("method", method.name)
      $0.member("params", params)
      $0.object("caller") {
        $0.member("uid", Int(uid))
        $0.member("pid", Int(pid))
      }
    }
    return id
  }

  /// Closes a call that its caller has given up, or that is answered.
  private func close(_ id: String) {
    guard let call = open.removeValue(forKey: id) else { return }
    call.timer?.dispose()
    call.provider.calls.remove(id)
    if case .queued = call.caller { call.provider.hasQueued = false }
    dropIfDone(call.provider)
  }

  private func expire(_ id: String) {
    guard let call = open[id] else { return }
    close(id)
    switch call.caller {
    case .waits(let waiting):
      waiting.refuse(
        .unavailable(
          call.method.service, "its provider has not answered within \(call.provider.wait) ms"))
    case .queued:
      // Others get it first.
      if let service = services[call.method.service],
        let i = service.providers.firstIndex(where: { $0 === call.provider })
      {
        service.providers.append(service.providers.remove(at: i))
      }
      deliverQueued(call.method.service)
    }
  }

  // MARK: Queued calls

  /// Records a queued call; call it within a command.
  func queue(
    _ method: ProvidedService.Method, _ params: JSONText, by caller: Peer
  ) throws(ProgramsError) -> UInt64 {
    let service = method.service
    guard ledger.newest.count(of: service) < Self.maxQueued else {
      throw .tooManyQueued(service: service, max: Self.maxQueued)
    }
    guard
      ledger.newest.count(queuedBy: caller.uid) < maxQueuedPerUser
        || host.owners.contains(caller.uid)
    else { throw .tooManyOfUser(max: maxQueuedPerUser) }
    ledger.record(
      .called(method: method.name, params: params, uid: caller.uid, pid: caller.pid),
      in: "services/\(service)")
    return host.last
  }

  /// Gives queued calls to providers that have none, the oldest first.
  private func deliverQueued(_ name: String) {
    guard let service = services[name] else { return }
    while service.providers.contains(where: { !$0.hasQueued && $0.hasRoom(for: 0) }),
      let (seq, call) = ledger.shown.oldestCall(
        of: name,
        where: { open["q\($0)"] == nil && ledger.newest.call($0, of: name) != nil })
    {
      let short = String(call.method.drop { $0 != "." }.dropFirst())
      let bytes = call.params.text.utf8.count
      guard let method = service.definition.methods[short] else {
        guard answer(seq, of: name, "the service has no method '\(short)' any more") else { return }
        continue
      }
      guard
        let provider = service.providers.first(where: { !$0.hasQueued && $0.hasRoom(for: bytes) })
      else {
        // If it waited for a provider with longer lines, it would hold up all others.
        guard service.providers.allSatisfy({ bytes > $0.longest }) else { return }
        guard answer(seq, of: name, "no provider takes lines of this length") else { return }
        continue
      }
      _ = send(method, call.params, uid: call.uid, pid: call.pid, .queued(seq), provider)
    }
  }

  /// Answers a queued call with an error of the daemon.
  ///
  /// - Returns: Whether the journal takes it; if not, the call stays until the next delivery.
  @discardableResult
  private func answer(_ seq: UInt64, of name: String, _ error: String) -> Bool {
    do throws(Refusal) {
      _ = try host.perform(Command(method: "services.answer", caller: host.daemon)) {
        ledger.record(.answered(call: seq, value: nil, error: error), in: "services/\(name)")
        return nil
      }
      return true
    } catch {
      return false
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
    guard let call = open[id], call.provider.connection === context.connection else {
      throw .notFound("call", id, didYouMean: nil)
    }
    for (place, values) in [("events", reply.events), ("publish", reply.publish)] {
      for (i, entry) in values.enumerated() {
        try check(entry.source, of: call.method.service, "/\(place)/\(i)/source")
        let target = (place == "events" ? "\(Self.name)/" : "\(live.service)/") + entry.source
        guard context.role.mayWrite(target) else { throw context.access.notWritable(target) }
        if place == "events" { try Self.check(entry.value, "/events/\(i)/value") }
      }
    }
    if case .queued = call.caller { try Self.check(reply.value, "/value") }
    if reply.error == nil,
      let fault = call.method.result?.fault(in: (reply.value ?? .null).value)
    {
      // The provider can do no better; the caller must not wait for it.
      let why = "its provider has answered with a value of another type"
      if case .queued(let seq) = call.caller {
        close(id)
        answer(seq, of: call.method.service, why)
        deliverQueued(call.method.service)
      } else {
        settle(id, .failed(why))
      }
      throw WireError(
        JSONDecodingError(path: "/value" + fault.path, expected: fault.expected, got: fault.got))
    }
    // After the record nothing can refuse the reply.
    let owner = context.connection.peer.uid
    try live.check(reply.publish, by: owner)
    let accepted = try record(call, reply, command, context)
    for (source, value) in reply.publish { live.publish(source, value, by: owner) }
    settle(id, reply.error.map { .refused($0) } ?? .value(reply.value))
    return accepted
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
    var queued: UInt64?
    if case .queued(let seq) = call.caller { queued = seq }
    let hasOptions =
      command.id != nil || !command.expectations.isEmpty || command.lease != nil
    guard queued != nil || !reply.events.isEmpty || hasOptions else { return nil }
    let accepted: Accepted
    do throws(Refusal) {
      accepted = try host.perform(command) {
        for (source, value) in reply.events { set("services/\(source)", value) }
        if let queued {
          host.recordingLeases {
            ledger.record(
              .answered(call: queued, value: reply.value, error: reply.error),
              in: "services/\(call.method.service)")
          }
        }
        return nil
      }
    } catch {
      throw context.access.error(error)
    }
    context.connection.noteWritten(upTo: host.last)
    return accepted
  }

  /// Sets or removes a journaled value; call it within a command.
  func set(_ source: String, _ value: JSONText?) {
    if let value {
      ledger.record(.set(value: value), in: source)
    } else if ledger.newest.has(source) {
      ledger.record(.removed, in: source)
    }
  }

  private enum Outcome {
    case value(JSONText?)
    case refused(String)
    case failed(String)
  }

  private func settle(_ id: String, _ outcome: Outcome) {
    guard let call = open[id] else { return }
    close(id)
    switch (call.caller, outcome) {
    case (.waits(let waiting), .value(let value)):
      waiting.answer(after: host.last) { buffer in
        buffer.object { $0.member("value", value ?? .null) }
      }
    case (.waits(let waiting), .refused(let message)):
      let error = WireError(.rejected, message, ["reason": .string("by_provider")])
      waiting.refuse(error, after: host.last)
    case (.waits(let waiting), .failed(let why)):
      waiting.refuse(.unavailable(call.method.service, why))
    case (.queued, _): deliverQueued(call.method.service)
    }
  }
}
