internal import API
internal import Configuration
internal import Connections
internal import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The providers of services, and the declarations that they make.
extension Programs {
  /// The most services that a user has declared, and the most methods of them together.
  private static let maxServices = 250
  private static let maxMethods = 1000

  /// The most services that one connection provides.
  private static let maxPerConnection = 64

  /// Makes a connection a provider of a service, and records its declaration if that is new.
  ///
  /// - Parameter text: The parameters of the request, which survive a restart of the daemon; `nil` if
  ///   the connection ends with it.
  func provide(
    _ definition: ProvidedService, _ context: CallContext, _ terms: Provider.Terms,
    keeping text: JSONText?
  ) throws(WireError) {
    let connection = context.connection
    let name = definition.name
    let known = service(name)
    let isNew = ledger.pending.declaration(of: name) != definition.declaration
    if isNew, known?.providers.isEmpty == false {
      throw .exists(
        name, "service '\(name)' is provided with other methods, sources, views or docs")
    }
    let key = ObjectIdentifier(connection)
    let own = providers[key] ?? []
    guard !own.contains(where: { $0.service == name && !$0.isWithdrawn }) else {
      throw .exists(name, "this connection provides '\(name)' already")
    }
    if isNew {
      try ProgramViews.check(
        definition.declaration.views, ofService: name,
        methods: definition.methods.values.map(makeMethod), for: context)
      try checkRoom(for: definition, by: connection.peer.uid)
    }
    guard own.count < Self.maxPerConnection else {
      throw .tooMany("a connection provides at most \(Self.maxPerConnection) services")
    }
    let uid = connection.peer.uid
    let most = host.roleLimits.limit(.providersPerUser, of: uid, common: maxProvidersPerUser)
    guard counts[uid] ?? 0 < most || host.owners.contains(uid) else {
      throw .tooMany("a user has at most \(most) providers (providers_user)")
    }
    let bytes = ItemBytes.provider + ItemBytes.copies * (text?.text.utf8.count ?? 0)
    try connection.checkMemory(for: bytes)
    if isNew { try declare(definition, context) }
    let service = isNew ? makeService(definition) : known ?? makeService(definition)
    if isNew, let known { (service.queue, service.deliveries) = (known.queue, known.deliveries) }
    know(name, service)
    let provider = Provider(
      name, connection, since: Timestamp(microseconds: host.now).text, terms, bytes, self)
    service.providers.append(provider)
    connection.charge(bytes)
    if providers[key] == nil {
      connection.attach(.providers, BlockDisposable { [weak self] in self?.end(key) })
    }
    providers[key, default: []].append(provider)
    counts[uid, default: 0] += 1
    if let text { connection.keep(.provider, name, text) }
    // It gets queued calls after the answer.
    showLater(service, for: connection)
  }

  /// Checks that a user may declare a service, also in place of one with the same name.
  private func checkRoom(
    for definition: ProvidedService, by uid: UInt32
  ) throws(WireError) {
    let others = ledger.pending.services(declaredBy: uid).filter { $0 != definition.name }
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
    context.connection.drop(.provider, name)
    showLater(service, for: context.connection)
    dropIfDone(provider)
    return provider.openCount
  }

  /// Forgets a provider that has withdrawn and has answered all calls.
  func dropIfDone(_ provider: Provider) {
    guard provider.isWithdrawn, provider.openCount == 0 else { return }
    provider.stop()
    providers[ObjectIdentifier(provider.connection)]?.removeAll { $0 === provider }
    uncount(provider)
  }

  private func uncount(_ provider: Provider) {
    guard provider.isCounted else { return }
    provider.isCounted = false
    provider.connection.charge(-provider.bytes)
    let uid = provider.connection.peer.uid
    counts[uid] = counts[uid].flatMap { $0 > 1 ? $0 - 1 : nil }
  }

  /// Checks that a client may publish values of a service without a call.
  ///
  /// If a program declared the service, only its providers and the declaring user may publish.
  func checkPublishing(_ source: String, _ context: CallContext) throws(WireError) {
    let name = String(source.prefix { $0 != "/" })
    guard !context.catalog.isReserved(name) else {
      throw WireError(
        .rejected, "'\(name)' is a service of the daemon", ["reason": .string("reserved")])
    }
    guard let declarer = ledger.pending.declarer(of: name) else { return }
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
              views: declaration.views, uid: context.connection.peer.uid),
            in: "services/\(definition.name)")
        }
        return nil
      }
    } catch {
      throw context.access.error(error)
    }
    context.connection.recordWrite(upTo: host.last)
  }

  /// Forgets the declaration of a service without providers, and its queued calls; call it within
  /// a command.
  func forget(_ name: String) throws(ProgramsError) {
    guard ledger.pending.declaration(of: name) != nil else { throw .unknownService(name) }
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
    let service = services[provider.service]
    if !provider.isWithdrawn, let i = service?.providers.firstIndex(where: { $0 === provider }) {
      service?.providers.remove(at: i)
    }
    let isStopping = provider.connection.context.isStopping
    for call in provider.stop() {
      close(call)
      switch call.caller {
      case .waits(let waiting):
        guard !isStopping else { continue }
        waiting.refuse(.unavailable(provider.service, "its provider has ended during the call"))
      case .queued: if !isStopping { giveBack(call, "its provider has ended") }
      }
    }
    if !isStopping, let service { showLater(service, for: provider.connection) }
  }

  /// The most providers that a value lists.
  private static let maxListed = 32

  /// Sets the value that shows the providers of a service.
  func show(_ name: String) {
    guard let service = services[name], !service.providers.isEmpty else {
      return providerValues.set("providers/\(name)", nil)
    }
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
    providerValues.set("providers/\(name)", JSONText(trusted: text.string))
  }

  /// The number of providers of a service.
  func providers(of name: String) -> Int { services[name]?.providers.count ?? 0 }
}
