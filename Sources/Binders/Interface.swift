package import Configuration
internal import Connections
internal import JSON
package import Services
internal import Signals

/// What clients of one role may call and watch: the one table that dispatch, `describe` and
/// `rpc.discover` are made from.
///
/// Binders of services fill it once, and it takes of what they offer what its role allows. What none
/// of them has bound does not exist for the clients it is given to.
package final class Interface {
  /// Sets a source.
  typealias Writer = (_ source: String, _ value: JSONText) throws(NotWritable) -> JSONText

  /// One service as it is offered.
  final class Service {
    let name: String
    let doc: String
    var sources: SourceProvider?

    /// Whether sources are offered, also where the role may know none of them.
    var hasSources = false
    var writer: Writer?

    /// The sources that are not journaled, by name.
    var sampled: [(description: SourceProvider.Description, source: SampledSource)] = []
    var events: [String] = []

    /// The types of events that ``writer`` may record.
    var writes: [String] = []

    init(name: String, doc: String) {
      self.name = name
      self.doc = doc
    }
  }

  let host: ServiceHost

  /// Whose interface it is.
  let role: Role

  /// The methods that were offered and that the role does not allow.
  private(set) var withheld: Set<String> = []

  /// Who asks for what is being run.
  var caller = Caller(uid: 0, pid: 0)

  /// Whether what is being run waits for something that is worked out away from the loop: it is run
  /// again.
  var isDeferred = false

  /// The client whose `atomic` is being read and run.
  var atomicConnection: Connection?

  /// The session in which a part of it is called.
  var atomicSession: Session?

  /// By name; there are few, so that looking through them is as fast as anything.
  private(set) var services: [Service] = []
  private(set) var methods = MethodTable()

  /// The views that can be opened, by name.
  private(set) var views: [String: ViewBinder] = [:]

  /// The lines of the binders that fill it, while they do.
  private var lines: [Assembly.Line]?

  /// What it has in common with those of other roles.
  package let commons: InterfaceCommons

  /// The bindings that live, of all roles, and what they may name.
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

  /// Lets binders offer what there is: whatever the order of their lines, they are taken in the same.
  ///
  /// What is offered of a service that nobody offers is a mistake of the binder, and stops the daemon.
  package func fill(_ bind: (Interface) -> Void) {
    precondition(lines == nil, "an interface is filled within its own filling")
    lines = []
    bind(self)
    let lines = lines ?? []
    self.lines = nil
    Assembly.take(commons.lineOrder(lines))
  }

  /// What a line of a binder offers, in the order in which that is taken.
  enum Offer: Int {
    case service
    case sources
    case method
    case view
  }

  /// Takes a line of a binder when all of them are there.
  func line(_ offer: Offer, _ run: @escaping () -> Void) {
    precondition(lines != nil, "a binder offers something outside of fill")
    lines?.append(Assembly.Line(phase: offer.rawValue, run: run))
  }

  /// Offers a service; its methods and sources stand before or after it.
  package func offer(_ service: String, _ doc: String, events: [String] = []) {
    line(.service) { [unowned self] in
      let offered = Service(name: service, doc: doc)
      offered.events = events
      precondition(self.service(named: service) == nil, "two services \(service)")
      let place = services.firstIndex { $0.name > service } ?? services.count
      services.insert(offered, at: place)
    }
  }

  /// Adds a method to the table, if the role allows it.
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

  /// Adds a view that can be opened.
  func add(_ view: ViewBinder) {
    line(.view) { [unowned self] in
      precondition(views[view.name] == nil, "two views \(view.name)")
      views[view.name] = view
    }
  }

  /// The service to which something belongs that is offered.
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

  /// The service that a source belongs to: the one that is called as its first segment.
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

  /// A value of any result type as text.
  func text<Value: Encodable>(_ value: Value) throws -> JSONText? {
    switch value {
    case let text as JSONText: text
    case let bool as Bool: JSONText(bool)
    case is Nothing: nil
    default: try encoder.text(value)
    }
  }
}

/// What a method returns that returns nothing.
package struct Nothing: Codable {}
