package import Configuration
package import Connections
package import EventSourcing
package import JSON
package import Model
package import Signals

/// The services, methods, sources and views that clients can use: the table behind dispatch,
/// `describe` and `rpc.discover`.
///
/// The binders fill it once, when the daemon starts. What a client may use of it depends on its
/// role; see ``Rights``.
///
/// ```swift
/// catalog.offer("Things to do.", chores.ledger)
/// catalog.offerSources(
///   of: chores.ledger, [.init("chores/*", "The title of what is to be done.", .string)],
///   exists: { Int($0.dropFirst("chores/".count)) != nil })
/// catalog.command(
///   "chores.add", "Adds something to do; returns its id.", AddChore.self, writes: ["chores.added"]
/// ) { _, chore throws(ChoreError) in try chores.add(title: chore.title) }
/// ```
package final class Catalog {
  /// Sets a source and returns its new value.
  package typealias Writer = (_ source: String, _ value: JSONText) throws(NotWritable) -> JSONText
  package typealias Clearer = (_ source: String) throws(NotWritable) -> Void

  /// A service with its sources.
  package final class Service {
    let name: String
    let doc: String

    /// The types of its events, sorted.
    let events: [String]

    /// Whether a file of the administrator is the service; its view is listed though nobody wrote one.
    let isInFile: Bool

    /// Returns the names that members of the rows of a pattern can have, if no type says it; `nil` if
    /// they may have any.
    let rowNames: (_ pattern: String) -> Set<String>?

    /// All of its sources; `nil` if it has none.
    package var sources: SourceProvider?
    package var writer: Writer?

    /// Removes the value of a source; `nil` if the sources always have one.
    package var clearer: Clearer?

    /// Gives sources their past values back that have no ``writer``; `nil` if `undo` does not.
    package var undo: (any SourceUndo)?

    /// The sources of its ledger; `nil` if it has none.
    var journaled: SourceProvider?

    /// The sources that are not journaled, sorted by name.
    var sampled: [(description: SourceProvider.Description, source: SampledSource)] = []

    /// The event types that ``writer`` may record.
    var writes: [String] = []

    init(
      name: String, doc: String, events: [String], isInFile: Bool,
      rowNames: @escaping (String) -> Set<String>?
    ) {
      (self.name, self.doc, self.events, self.isInFile) = (name, doc, events, isInFile)
      self.rowNames = rowNames
    }
  }

  package let host: ServiceHost

  /// The services, sorted by name; few enough for a linear search.
  private(set) var services: [Service] = []
  private(set) var methods = MethodTable()

  /// The views, by name.
  private(set) var views: [String: ViewBinder] = [:]

  /// The views of files.
  package let files = FileViewRegistry()

  /// Finds the parts of values that clients subscribe to, and decodes values for bindings.
  package let parts = PartFinder()
  /// The calls that wait for a value of a source.
  let awaited = AwaitedSources()
  package let decoder = JSONDecoder(maxElements: Catalog.maxElements)

  /// The most elements of an array in parameters; a request with more would take too long.
  static let maxElements = 20_000
  package let encoder = JSONEncoder()

  /// Returns milliseconds of a monotonic clock that advances while a method runs.
  package var clock: () -> UInt64 = { 0 }

  /// Returns the name under which a client is logged in; `nil` if it is not.
  package var actor: (Connection) -> String? = { _ in nil }

  /// The parts of features that commands with options use.
  package struct CommandParts {
    /// Returns the name of the lease that a command of a client names, and grants it if necessary;
    /// called within the command.
    package var lease: ((CallContext, LeaseOption) throws -> String)?

    /// Follows what bindings write; `nil` if there are none.
    package weak var effects: (any EffectFollower)?
  }

  package var commandParts = CommandParts()

  /// The ways to restore what a connection had with an earlier daemon.
  var restorers: [HandoverKind: Restorer] = [:]

  /// Passes commands on to the active daemon, where several share a journal; otherwise `nil`.
  var forwarder: (any RequestForwarder)?

  /// The services made of programs; their methods come and go.
  package var provided = ProvidedMethods()

  package var internalErrors = InternalErrors()

  /// Called when a client requests an operation that its role does not allow, for example `"to call
  /// cells.set"`.
  package var onRefusal: (_ caller: Peer, _ role: Role, _ what: String) -> Void = { _, _, _ in }

  /// The order in which offers are processed; tests shuffle it.
  package var lineOrder: ([Assembly.Line]) -> [Assembly.Line] = { $0 }

  /// The methods offered during ``fill(_:)``, in any order.
  private var offeredMethods: [Method] = []

  /// The collected offers during ``fill(_:)``; otherwise `nil`.
  private var lines: [Assembly.Line]?

  package init(over host: ServiceHost) {
    self.host = host
  }

  // MARK: Filling

  /// The number of requests for each method since the start; methods without any are left out.
  package var callCounts: [(method: String, count: UInt64)] {
    methods.methods.filter { $0.calls > 0 }.map { ($0.name, $0.calls) }
  }

  /// Calls the binders, then processes their offers in a fixed order, independent of the order of
  /// the calls.
  ///
  /// An offer for a service that does not exist, or of a method that writes an unknown event, is a
  /// programming error and stops the daemon.
  package func fill(_ bind: (Catalog) -> Void) {
    precondition(lines == nil, "a catalog is filled within its own filling")
    lines = []
    bind(self)
    let lines = lines ?? []
    self.lines = nil
    Assembly.run(lineOrder(lines))
    methods = MethodTable(methods.methods + offeredMethods)
    offeredMethods = []
    let events = Set(services.flatMap(\.events))
    for method in methods.methods {
      let unknown = (method.writes ?? []).first { !events.contains($0) }
      precondition(unknown == nil, "\(method.name) writes \(unknown ?? ""), an unknown event")
    }
  }

  /// Replaces the offers of some services, and of no others.
  ///
  /// Clients see the change with new ``Rights``; those before keep the services that they know.
  ///
  /// - Parameter bind: Offers the services again, and new ones.
  package func refill(without names: Set<String>, _ bind: (Catalog) -> Void) {
    services.removeAll { names.contains($0.name) }
    let before = methods.methods
    methods = methods.filter { !names.contains($0.service ?? "") }
    fill(bind)
    files.methodChanges.replace(
      Method.parameterTypes(of: before), with: Method.parameterTypes(of: methods.methods))
  }

  /// The kind of an offer, in processing order.
  package enum Offer: Int {
    case service
    case sources
    case method
    case view
  }

  /// Adds an offer, which is processed when all binders have run.
  package func line(_ offer: Offer, _ run: @escaping () -> Void) {
    precondition(lines != nil, "a binder offers something outside of fill")
    lines?.append(Assembly.Line(phase: offer.rawValue, run: run))
  }

  /// The types of the events of each service.
  package var eventTypes: [String: [String]] {
    Dictionary(services.map { ($0.name, $0.events) }) { first, _ in first }
  }

  /// Offers a service without events.
  ///
  /// Its methods and sources may be offered before or after it.
  package func offer(_ service: String, _ doc: String) {
    add(service, doc, events: [])
  }

  /// Offers a service with the events of its ledger.
  package func offer<State>(_ doc: String, _ ledger: Ledger<State>) {
    add(ledger.service, doc, events: State.Event.types(of: ledger.service))
  }

  package func add(
    _ service: String, _ doc: String, events: [String], isInFile: Bool = false,
    rowNames: @escaping (String) -> Set<String>? = { _ in nil }
  ) {
    line(.service) { [unowned self] in
      precondition(self.service(named: service) == nil, "two services \(service)")
      let place = services.firstIndex { $0.name > service } ?? services.count
      let new = Service(
        name: service, doc: doc, events: events, isInFile: isInFile, rowNames: rowNames)
      services.insert(new, at: place)
    }
  }

  /// Adds a method.
  package func add(_ method: Method) {
    line(.method) { [unowned self] in
      if let service = method.service { _ = offered(service, for: method.name) }
      offeredMethods.append(method)
    }
  }

  /// Adds a view that clients can open.
  func add(_ view: ViewBinder) {
    line(.view) { [unowned self] in
      _ = offered(view.service, for: "the view \(view.name)")
      precondition(views[view.name] == nil, "two views \(view.name)")
      views[view.name] = view
    }
  }

  /// Returns the service that an offer belongs to.
  ///
  /// Stops the daemon if there is none.
  package func offered(_ name: String, for what: String) -> Service {
    guard let service = service(named: name) else {
      preconditionFailure("\(what) is offered, but no service \(name)")
    }
    return service
  }

  /// Releases everything that was offered, when the daemon stops: methods may retain the catalog.
  package func end() {
    (services, methods, views) = ([], MethodTable(), [:])
    (provided, commandParts, forwarder) = (ProvidedMethods(), CommandParts(), nil)
    files.removeAll()
    restorers = [:]
    (actor, internalErrors, onRefusal) = ({ _ in nil }, InternalErrors(), { _, _, _ in })
  }

  // MARK: Finding

  func service(named name: String) -> Service? {
    services.first { $0.name == name }
  }

  /// Returns all sources of a service, without regard to roles; `nil` if it has none.
  package func sources(ofService name: String) -> SourceProvider? { service(named: name)?.sources }

  /// Returns a result as JSON; `nil` for ``Nothing``.
  @inlinable
  package func text<Value: Encodable>(_ value: Value) throws -> JSONText? {
    // Most commands return a text; a cast would look its type up for each of them.
    if Value.self == JSONText.self { return unsafe unsafeBitCast(value, to: JSONText.self) }
    return switch value {
    case let bool as Bool: JSONText(bool)
    case is Nothing: nil
    default: try encoder.text(value)
    }
  }
}

extension ServiceEvent {
  /// Returns the types under which a service records these events, sorted.
  package static func types(of service: String) -> [String] {
    kinds.sorted().map { "\(service).\($0)" }
  }
}

/// The result of a method that returns nothing.
package struct Nothing: Codable {
  package init() {}
}

/// The way in which `undo` gives sources their past values back that clients do not set as a whole.
package protocol SourceUndo: AnyObject {
  /// The value of a source without entries, if its entries are undone one by one; otherwise `nil`.
  func emptyValue(of source: String) -> JSONText?

  /// Returns the source whose past value comes back together with that of another one; `nil` if there is
  /// none.
  func companion(of source: String) -> String?

  /// Returns why a source is not undone by itself; `nil` if it is.
  func obstacle(to source: String) -> String?

  /// Returns why a source does not take a past value; `nil` if it does.
  func refusal(of past: PastSource, _ context: CallContext) -> String?

  /// Gives a source a past value back, within the command of the undo.
  func restore(_ past: PastSource, _ context: CallContext) throws -> RestoredSource
}

extension Catalog {
  /// Offers the undo of sources that clients do not set.
  package func offerUndo(of service: String, _ undo: any SourceUndo) {
    line(.method) { [unowned self] in offered(service, for: "undo").undo = undo }
  }
}
