package import API
internal import BinderDaemon
internal import EventSourcing
internal import JSON
public import Signals

/// The methods, sources and views that clients can use.
///
/// A binder fills it once, before the start.
///
/// A mistake, such as a second method of a name, ends the start of the daemon with its place in the
/// program; nothing is written then.
public final class Catalog {
  package let host: Host

  /// The service that was offered last; what follows belongs to it.
  package private(set) var service: String?

  /// The offers, for the catalogue of the engine.
  private var offers: [(API.Catalog) -> Void] = []

  /// Whether the events of each service have a kind.
  private var knownKinds: [String: (String) -> Bool] = [:]

  /// The kinds of events that the methods of each service record, and those that its writers do.
  private var recorded: [String: (all: Set<String>, byWriters: Set<String>)] = [:]

  /// The functions with which clients set rows, for each service.
  private var tableWriters: [String: [TableWriter]] = [:]

  /// The sources of each service that are loaded.
  private var loading: [String: LoadingSources] = [:]

  /// The functions with which administrators remove rows.
  private(set) var removers: [Remover] = []

  /// Whether a name may be one of a row of the service that was offered last.
  private(set) var isRow: (String) -> Bool = { _ in false }

  /// The names of the rows of the service that was offered last, with a `*` for the key.
  private(set) var patterns: Set<String> = []

  /// The place at which each method and view was offered.
  private var places: [String: SourcePlace] = [:]

  package init(_ host: Host) { self.host = host }

  /// Adds an offer for the catalogue of the engine.
  package func add(_ offer: @escaping (API.Catalog) -> Void) { offers.append(offer) }

  /// Offers everything to clients.
  func fill(_ catalog: API.Catalog) {
    for offer in offers { offer(catalog) }
  }

  /// Begins the offers of a service.
  ///
  /// - Parameters:
  ///   - isRow: Whether a name may be one of a row.
  ///   - patterns: The names of its rows, with a `*` for the key.
  ///   - isKind: Whether its events have a kind.
  package func begin(
    _ service: String, isRow: @escaping (String) -> Bool = { _ in false },
    patterns: Set<String> = [], knows isKind: @escaping (String) -> Bool
  ) {
    (self.service, self.isRow, self.patterns) = (service, isRow, patterns)
    knownKinds[service] = isKind
  }

  /// The kinds of events that the methods of a service record, sorted.
  func recordedKinds(of service: String) -> [String] {
    (recorded[service]?.all ?? []).sorted()
  }

  /// Returns the functions with which clients set rows of a service, and the kinds of events that they
  /// may record.
  func writers(of service: String) -> (writers: [TableWriter], kinds: [String]) {
    (tableWriters[service] ?? [], (recorded[service]?.byWriters ?? []).sorted())
  }

  /// Adds a function with which clients set rows of the service that was offered last.
  func add(_ writer: TableWriter, records kinds: [String], _ place: SourcePlace) {
    guard let service, claim("writer of '\(writer.pattern)'", place) else { return }
    tableWriters[service, default: []].append(writer)
    recorded[service, default: ([], [])].byWriters.formUnion(kinds)
  }

  /// Adds sources that are loaded; a service has those of one pattern.
  func add(_ sources: LoadingSources, of service: String, _ place: SourcePlace) {
    guard claim("loaded sources of '\(service)'", place) else { return }
    loading[service] = sources
  }

  /// Returns the sources of a service that are loaded.
  func loaded(of service: String) -> LoadingSources? { loading[service] }

  /// Adds a function with which administrators remove rows.
  func add(_ remover: Remover) { removers.append(remover) }

  /// Checks the kinds of events that something may record.
  ///
  /// - Returns: Whether the events of the service have all of them.
  func checkKinds(
    _ kinds: [String], of service: String, for what: String, _ place: SourcePlace
  ) -> Bool {
    if let unknown = kinds.first(where: { knownKinds[service]?($0) != true }) {
      host.addMistake("\(what) records '\(unknown)', which is no event of \(service)", place)
      return false
    }
    recorded[service, default: ([], [])].all.formUnion(kinds)
    return true
  }

  /// Offers a service without events, for methods and sources that are not journaled.
  ///
  /// - Parameters:
  ///   - service: Its name: the first part of the names of its methods and sources.
  ///   - doc: A line for people.
  public func offer(
    _ service: String, _ doc: String, file: StaticString = #fileID, line: UInt = #line
  ) {
    let service = host.claim(service, SourcePlace(file, line))
    begin(service) { _ in false }
    add { $0.offer(service, doc) }
  }

  /// Offers a value that is not journaled, as a source.
  ///
  /// - Parameters:
  ///   - name: The name of the source, which begins with that of the service: `chores/open`.
  ///   - doc: A line for people.
  ///   - property: The value, and its changes.
  public func source<Value: Codable>(
    _ name: String, _ doc: String, _ property: AnyProperty<Value>, file: StaticString = #fileID,
    line: UInt = #line
  ) {
    let place = SourcePlace(file, line)
    guard claim(name, "source", "/", place) else { return }
    if isRow(name) {
      return host.addMistake(
        "a row of '\(service ?? "")' may have the name of the source '\(name)'", place)
    }
    add { $0.offerSource(name, doc, property) }
  }

  // MARK: Methods

  /// Adds a method.
  ///
  /// - Parameters:
  ///   - records: The kinds of events that it may record; `nil` for a query.
  ///   - isPersonal: Whether the same `cmd` of another user is another call.
  ///   - prepare: Reads the parameters, and returns the function that runs the method.
  func addMethod(
    _ name: String, _ doc: String, _ parameters: [API.Method.Parameter], value: Shape?,
    records: [String]?, rejects: [String], isPersonal: Bool, _ place: SourcePlace,
    prepare: @escaping (CallContext, [JSONText?], JSONDecoder) throws -> () throws -> JSONText?
  ) -> Method {
    let method = Method(name, parameters, isCommand: records != nil)
    guard claim(name, "method", ".", place) else { return method }
    let service = String(name.prefix { $0 != "." })
    guard checkKinds(records ?? [], of: service, for: name, place),
      host.checkNames(of: parameters, of: name, place)
    else { return method }
    add { [host] catalog in
      if let records {
        catalog.command(
          name, doc, taking: parameters, value: value, writes: records.map { "\(service).\($0)" },
          errors: rejects, isPersonal: isPersonal, isKept: method.isKept,
          changesSession: method.changesSession
        ) { context, texts in
          let run = try prepare(context, texts, context.catalog.decoder)
          return {
            do { return try run() } catch { throw ServiceRejection.adapted(error) }
          }
        }
      } else {
        catalog.query(name, doc, taking: parameters, value: value ?? .any, errors: rejects) {
          context, texts in
          let run = try prepare(context, texts, context.catalog.decoder)
          do {
            return try host.query(name, run) ?? .null
          } catch {
            throw ServiceRejection.adapted(error)
          }
        }
      }
    }
    return method
  }

  /// Adds a query whose answer is the first value of a signal.
  func addLateQuery(
    _ name: String, _ doc: String, _ parameters: [API.Method.Parameter], value: Shape,
    rejects: [String], _ place: SourcePlace,
    body: @escaping (CallContext, [JSONText?], JSONDecoder) throws -> Signal<JSONText, any Error>
  ) -> Method {
    let method = Method(name, parameters, isCommand: false)
    guard claim(name, "method", ".", place), host.checkNames(of: parameters, of: name, place) else {
      return method
    }
    add { [host] catalog in
      catalog.lateQuery(name, doc, taking: parameters, value: value, errors: rejects) {
        context, texts in
        do {
          return try host.query(name) { try body(context, texts, context.catalog.decoder) }
            .mapError { ServiceRejection.adapted($0) }
        } catch {
          throw ServiceRejection.adapted(error)
        }
      }
    }
    return method
  }

  /// Notes the name of something, which must be free and belong to the service.
  ///
  /// - Returns: Whether the name can be used.
  package func claim(
    _ name: String, _ kind: String, _ separator: Character, _ place: SourcePlace
  ) -> Bool {
    guard let service else {
      host.addMistake("the \(kind) '\(name)' is offered before its service", place)
      return false
    }
    guard name.split(separator: separator, omittingEmptySubsequences: false).count >= 2,
      name.hasPrefix(service + String(separator))
    else {
      host.addMistake(
        "the \(kind) '\(name)' belongs to no service: the name begins with '\(service)\(separator)'",
        place)
      return false
    }
    return claim("\(kind) '\(name)'", place)
  }

  /// Notes a name, which must be free.
  func claim(_ name: String, _ place: SourcePlace) -> Bool {
    if let earlier = places[name] {
      host.addMistake("the \(name) exists, from \(earlier)", place)
      return false
    }
    places[name] = place
    return true
  }
}

/// A method that clients can call; an intent of a view may call it too.
public final class Method {
  /// The full name: `chores.add`.
  public let name: String
  let parameters: [API.Method.Parameter]

  let isCommand: Bool

  /// Whether answers are stored for `_meta.cmd`.
  private(set) var isKept = true
  private(set) var changesSession = false

  init(_ name: String, _ parameters: [API.Method.Parameter], isCommand: Bool) {
    (self.name, self.parameters, self.isCommand) = (name, parameters, isCommand)
  }

  /// Declares effects beyond the recorded events, for example on a login, or a secret as the answer.
  ///
  /// The answer is never stored, so clients cannot send a `_meta.cmd`, and the method cannot be part
  /// of an `atomic`.
  @discardableResult public func unkept() -> Method {
    isKept = false
    return self
  }

  /// Declares that the function changes the session of its client, for example its login.
  ///
  /// In a cluster, a daemon that follows runs the function too, behind the active one, for its own
  /// session of the client. What the active daemon has recorded is there then, and nothing may be
  /// recorded again.
  @discardableResult public func changingSession() -> Method {
    changesSession = true
    return self
  }
}
