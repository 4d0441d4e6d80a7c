internal import API
internal import Configuration
internal import Connections
package import EventSourcing
internal import JSON
internal import Model
internal import Signals
internal import Wire

/// The services made of programs: which connections provide them, and the calls that they work on.
package final class Programs {
  /// The name of the service that keeps the values and queued calls.
  static let name = "services"

  package let ledger: Ledger<ProvidedValues>

  /// The most providers and queued calls of one user who is not an administrator.
  package var maxProvidersPerUser = 1_000
  package var maxQueuedPerUser = 5_000

  /// The values of `providers/NAME`, and those that are not journaled.
  let providerValues = LiveValues("providers")
  let live = LiveValues("live")

  /// Makes a method that clients call.
  var makeMethod: (ProvidedService.Method) -> Method = { _ in preconditionFailure("not bound") }

  /// Called when the methods of a service are replaced by others.
  var onMethods: (_ old: [Method], _ new: [Method]) -> Void = { _, _ in }

  let host: ServiceHost

  /// Sends the name of a view of a program when its text has changed.
  private let viewChanges = KeyedSubject<String, Void>()

  /// Sends why a queued call has failed or is parked, or `nil` when it has succeeded, by its number.
  private let outcomes = KeyedSubject<UInt64, String?>()

  /// The services whose declarations were read, by name.
  private(set) var services: [String: Service] = [:]

  /// The methods of these services, by the number of their full name.
  private let methodNames = Names()
  private var methods: [Int: Method] = [:]

  /// The direct and the queued calls that providers work on, by number.
  var open: [UInt64: OpenCall] = [:]
  var openQueued: [UInt64: OpenCall] = [:]
  var lastCall: UInt64 = 0

  /// The providers of each connection, also those that have withdrawn and still work on calls.
  var providers: [ObjectIdentifier: [Provider]] = [:]

  /// The number of providers of each user.
  var counts: [UInt32: Int] = [:]

  /// The services to show and to deliver calls to, by the user in whose time it is done.
  var updates: [UInt32: ServiceUpdates] = [:]
  private let bag = DisposeBag()

  package init(in host: ServiceHost) {
    self.host = host
    ledger = Ledger(Self.name, in: host)
    live.types = host.types
    ledger.happened.observeNext { [unowned self] event, place in
      let name = String(place.stream.dropFirst(Self.name.utf8.count + 1))
      switch event {
      case .called(_, _, let user, _): enqueue(place.seq, of: name, by: user)
      case .retried(let call): deliverAgain(call, of: name)
      case .answered(let call, _, let error):
        services[name]?.deliveries[call] = nil
        outcomes.send(error, to: call)
      case .parked(let call, let reason, _):
        services[name]?.deliveries[call] = nil
        outcomes.send("parked: " + reason, to: call)
      case .forgotten where ledger.pending.declaration(of: name) == nil: know(name, nil)
      case .provided: refresh(name)
      case .set, .removed, .forgotten: break
      }
    }.dispose(in: bag)
    // Calls whose answers were lost wait again.
    host.rejected.observeNext { [unowned self] _ in
      for service in services.values { service.queue = nil }
    }.dispose(in: bag)
  }

  /// Lets the numbers of direct calls differ from those of earlier daemons, whose calls a provider
  /// may still answer.
  ///
  /// - Parameter generation: The number of earlier daemons.
  package func skipCalls(of generation: UInt64) { lastCall = generation &* 1_000_000_000_000 }

  /// Sets the observer of values that are not journaled: one appears or disappears.
  package func onExistence(_ body: @escaping (_ source: String, _ exists: Bool) -> Void) {
    (providerValues.onExistence, live.onExistence) = (body, body)
  }

  // MARK: Finding

  /// Returns a service that a program has declared, also if nobody provides it now.
  func service(_ name: String) -> Service? {
    if let known = services[name] { return known }
    guard let declared = ledger.pending.declaration(of: name),
      let definition = try? ProvidedService(name, declared)
    else { return nil }
    let service = makeService(definition)
    know(name, service)
    return service
  }

  func makeService(_ definition: ProvidedService) -> Service {
    Service(definition, makeMethod, viewChanges)
  }

  func know(_ name: String, _ service: Service?) {
    for method in services[name]?.shown.methods ?? [] {
      guard let number = methodNames.number(of: method.name) else { continue }
      methods[number] = nil
      methodNames.release(number)
    }
    let known = services[name]
    known?.views.change(to: service?.views)
    services[name] = service
    for method in service?.shown.methods ?? [] { methods[methodNames.add(method.name)] = method }
    onMethods(known?.shown.methods ?? [], service?.shown.methods ?? [])
  }

  /// Reads a declaration that another daemon of the cluster has recorded.
  private func refresh(_ name: String) {
    guard let known = services[name], known.providers.isEmpty,
      let declared = ledger.pending.declaration(of: name), declared != known.definition.declaration,
      let definition = try? ProvidedService(name, declared)
    else { return }
    let service = makeService(definition)
    (service.queue, service.deliveries) = (known.queue, known.deliveries)
    know(name, service)
  }

  /// Returns a known method by the bytes of its full name.
  private func method(_ name: Span<UInt8>) -> Method? {
    methodNames.number(of: name).flatMap { methods[$0] }
  }

  /// The methods for the catalog.
  var provided: ProvidedMethods {
    var provided = ProvidedMethods()
    provided.find = { [unowned self] in method($0) }
    provided.method = { [unowned self] name in
      if let known = self.method(name.utf8.span) { return known }
      guard let point = name.firstIndex(of: ".") else { return nil }
      return service(String(name[..<point]))?.methods[String(name[point...].dropFirst())]
    }
    provided.service = { [unowned self] in service($0)?.shown }
    provided.near = { [unowned self] name in
      ledger.neighbours(of: "\(Self.name)/\(name)", count: Self.nearCount).compactMap {
        service(String($0.dropFirst(Self.name.utf8.count + 1)))?.shown
      }
    }
    provided.names = { [unowned self] in ledger.pending.declared.sorted() }
    provided.outcomes = { [unowned self] in outcomes.elements(of: $0) }
    return provided
  }

  /// The services before and after an unknown name that suggestions come from.
  private static let nearCount = 4
}
