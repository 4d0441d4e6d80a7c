package import Configuration
internal import Connections
package import JSON
package import Services
internal import Signals
internal import Wire

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
    var writer: Writer?
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

  /// The client whose `atomic` is being read and run.
  var atomicConnection: Connection?

  /// The session in which a part of it is called.
  var atomicSession: Session?

  /// By name; there are few, so that looking through them is as fast as anything.
  private(set) var services: [Service] = []
  private(set) var methods = MethodTable()

  /// The views that can be opened, by name.
  var views: [String: ViewBinder] = [:]

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

  /// Offers a service; its methods and sources follow.
  package func offer(_ service: String, _ doc: String, events: [String] = []) {
    let offered = Service(name: service, doc: doc)
    offered.events = events
    precondition(self.service(named: service) == nil, "two services \(service)")
    let place = services.firstIndex { $0.name > service } ?? services.count
    services.insert(offered, at: place)
  }

  /// Offers the sources of a ledger: journaled, and read from what is durable.
  ///
  /// - Parameter exists: Whether a name can be watched that has no value now.
  package func offerSources<State>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool
  ) {
    offerSources(of: ledger, descriptions, exists: exists, beside: nil)
  }

  /// The same, with others beside them that are loaded.
  func offerSources<State>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool, beside loading: LoadingSources?
  ) {
    var sources = SourceProvider(
      descriptions: descriptions, isJournaled: true, exists: exists, value: ledger.value(of:),
      newest: { ledger.newest.value(of: $0) },
      collection: ledger.collection(of:), names: ledger.sources(upTo:where:),
      changes: ledger.changes(of:), changesWhere: ledger.changes(where:))
    if let loading { sources = sources.beside(loading) }
    service(named: ledger.service)?.sources = sources.restricted(to: role)
  }

  /// Offers the sources of a ledger that are writable.
  ///
  /// - Parameters:
  ///   - writes: The types of events that `write` may record.
  ///   - write: Sets a source.
  package func offerSources<State, Failure: ServiceError>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool, writes: [String],
    write: @escaping (_ source: String, _ value: JSONText) throws(Failure) -> JSONText
  ) {
    offerSources(of: ledger, descriptions, exists: exists)
    service(named: ledger.service)?.writes = writes
    service(named: ledger.service)?.writer = { source, value throws(NotWritable) in
      do throws(Failure) {
        return try write(source, value)
      } catch {
        throw .refused(error)
      }
    }
  }

  /// Offers a value that is measured: not journaled.
  package func offerSource<Value: Codable>(
    _ name: String, _ doc: String, _ sampled: Sampled<Value>
  ) {
    let encoder = encoder
    func text(_ value: Value) -> JSONText { (try? encoder.text(value)) ?? .null }
    let source = SampledSource(
      value: { text(sampled.value) },
      changes: sampled.changes.map {
        SourceChange(source: name, seq: 0, value: text($0))
      })
    offer(SourceProvider.Description(name, doc, Shape(of: Value.self)), source)
  }

  /// Offers a source that is not journaled.
  func offer(_ description: SourceProvider.Description, _ source: SampledSource) {
    let service = String(description.name.prefix { $0 != "/" })
    sampledSources[service, default: []].append((description, source))
    let sources = SourceProvider(sampled: sampledSources[service] ?? [])
    self.service(named: service)?.sources = sources.restricted(to: role)
  }

  private var sampledSources: [String: [(SourceProvider.Description, SampledSource)]] = [:]

  /// Adds a method to the table, if the role allows it.
  func add(_ method: Method) {
    guard role.mayCall(method.name) else {
      withheld.insert(method.name)
      return
    }
    methods.add(method)
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

/// One measured source.
struct SampledSource {
  let value: () -> JSONText
  let changes: Signal<SourceChange, Never>
}

extension SourceProvider {
  /// The measured sources of a service.
  fileprivate convenience init(sampled: [(Description, SampledSource)]) {
    var byName: [String: SampledSource] = [:]
    for (description, source) in sampled { byName[description.name] = source }
    let sources = byName
    self.init(
      descriptions: sampled.map(\.0), isJournaled: false, exists: { sources[$0] != nil },
      value: { sources[$0]?.value() },
      names: { limit, isWanted in Array(sources.keys.lazy.filter(isWanted).prefix(limit)) },
      changes: { source in
        sources[source]?.changes ?? Signal { _ in NonDisposable.instance }
      },
      changesWhere: { isWanted in
        Signal { observer in
          let bag = DisposeBag()
          for (name, source) in sources where isWanted(name) {
            source.changes.observeNext { observer.receive($0) }.dispose(in: bag)
          }
          return bag
        }
      })
  }
}
