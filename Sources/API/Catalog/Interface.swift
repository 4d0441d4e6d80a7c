package import Configuration
internal import Connections
package import EventSourcing
internal import Facts
internal import JSON
internal import Signals

/// The methods, sources and views that clients of one role can use: the table behind dispatch,
/// `describe` and `rpc.discover`.
///
/// The binders of services fill it once. It keeps the offers that its role allows; for its clients,
/// nothing else exists.
package final class Interface {
  /// Sets a source and returns its new value.
  typealias Writer = (_ source: String, _ value: JSONText) throws(NotWritable) -> JSONText

  /// A service with its sources.
  final class Service {
    let name: String
    let doc: String
    var sources: SourceProvider?

    /// Whether the service has sources, even if the role may know none of them.
    var hasSources = false
    var writer: Writer?

    /// The sources that are not journaled, sorted by name.
    var sampled: [(description: SourceProvider.Description, source: SampledSource)] = []
    var events: [String] = []

    /// The event types that ``writer`` may record.
    var writes: [String] = []

    init(name: String, doc: String) {
      self.name = name
      self.doc = doc
    }
  }

  let host: ServiceHost

  /// The role that the interface is for.
  let role: Role

  /// The names of offered methods that the role does not allow.
  private(set) var withheld: Set<String> = []

  /// The client whose request is running.
  var caller = Peer(uid: 0)

  /// Whether the running request waits for work outside the event loop and must run again
  /// afterwards.
  var isDeferred = false

  /// The connection whose `atomic` is being decoded and run.
  var atomicConnection: Connection?

  /// The session used by the calls of that `atomic`; `nil` if no call needs one.
  var atomicSession: Session?

  /// The services, sorted by name; few enough for a linear search.
  private(set) var services: [Service] = []
  private(set) var methods = MethodTable()

  /// The views that clients can open, by name.
  private(set) var views: [String: ViewBinder] = [:]

  /// The collected offers during ``fill(_:)``; otherwise `nil`.
  private var lines: [Assembly.Line]?

  /// The state shared by the interfaces of all roles.
  package let commons: InterfaceCommons

  /// The live bindings of all roles.
  var bindings: LiveBindings { commons.bindings }
  let transformers = JSONTransformers.all

  let decoder = JSONDecoder()
  let encoder = JSONEncoder()

  package init(
    over host: ServiceHost, for role: Role = .owner,
    _ commons: InterfaceCommons = InterfaceCommons()
  ) {
    self.host = host
    self.role = role
    self.commons = commons
  }

  // MARK: Filling

  /// Calls the binders, then processes their offers in a fixed order, independent of the order of
  /// the calls.
  ///
  /// An offer for a service that does not exist is a programming error and stops the daemon.
  package func fill(_ bind: (Interface) -> Void) {
    precondition(lines == nil, "an interface is filled within its own filling")
    lines = []
    bind(self)
    let lines = lines ?? []
    self.lines = nil
    Assembly.take(commons.lineOrder(lines))
  }

  /// The kind of an offer, in processing order.
  enum Offer: Int {
    case service
    case sources
    case method
    case view
  }

  /// Adds an offer, which is processed when all binders have run.
  func line(_ offer: Offer, _ run: @escaping () -> Void) {
    precondition(lines != nil, "a binder offers something outside of fill")
    lines?.append(Assembly.Line(phase: offer.rawValue, run: run))
  }

  /// Offers a service.
  ///
  /// Its methods and sources may be offered before or after it.
  package func offer(_ service: String, _ doc: String, events: [String] = []) {
    line(.service) { [unowned self] in
      let offered = Service(name: service, doc: doc)
      offered.events = events
      precondition(self.service(named: service) == nil, "two services \(service)")
      let place = services.firstIndex { $0.name > service } ?? services.count
      services.insert(offered, at: place)
    }
  }

  /// Adds a method if the role allows it.
  func add(_ method: Method) {
    line(.method) { [unowned self] in
      if let service = method.service { _ = offered(service, for: method.name) }
      guard role.mayCall(method.name) else {
        withheld.insert(method.name)
        return
      }
      methods.add(method)
    }
  }

  /// Adds a view that clients can open.
  func add(_ view: ViewBinder) {
    line(.view) { [unowned self] in
      precondition(views[view.name] == nil, "two views \(view.name)")
      views[view.name] = view
    }
  }

  /// Returns the service that an offer belongs to.
  ///
  /// Stops the daemon if there is none.
  func offered(_ name: String, for what: String) -> Service {
    guard let service = service(named: name) else {
      preconditionFailure("\(what) is offered, but no service \(name)")
    }
    return service
  }

  // MARK: Finding

  func service(named name: String) -> Service? {
    services.first { $0.name == name }
  }

  /// Returns the service of a source, named by the source's first segment; `nil` if there is none.
  func service(of source: String) -> Service? {
    let source = source.utf8.span
    return services.first { service in
      let name = service.name.utf8.span
      guard
        source.count == name.count
          || source.count > name.count && source[name.count] == UInt8(ascii: "/")
      else { return false }
      for i in name.indices where source[i] != name[i] { return false }
      return true
    }
  }

  /// Returns a result as JSON; `nil` for ``Nothing``.
  func text<Value: Encodable>(_ value: Value) throws -> JSONText? {
    switch value {
    case let text as JSONText: text
    case let bool as Bool: JSONText(bool)
    case is Nothing: nil
    default: try encoder.text(value)
    }
  }
}

/// The result of a method that returns nothing.
package struct Nothing: Codable {}
