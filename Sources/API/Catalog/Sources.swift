internal import Connections
package import EventSourcing
package import JSON
internal import Model
package import Signals
internal import Wire

extension Catalog {
  /// Offers the sources of a ledger: journaled, with durable values.
  ///
  /// - Parameters:
  ///   - exists: Whether clients can subscribe to a source that has no value now.
  ///   - now: Returns figures of the moment beside the durable value of a source, for `get`.
  package func offerSources<State>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool, now: ((String) -> JSONText?)? = nil
  ) {
    offerSources(of: ledger, descriptions, exists: exists, now: now, beside: nil) { _ in }
  }

  /// Offers the tables of a ledger that clients see as sources.
  ///
  /// - Parameters:
  ///   - writes: The event types that the writers may record.
  ///   - writers: The functions with which clients set rows, at most one for each table.
  ///   - loading: Sources beside the tables that are loaded while clients watch them.
  package func offerTables<State: TableState>(
    of ledger: Ledger<State>, writes: [String] = [], writers: [TableWriter] = [],
    beside loading: LoadingSources? = nil
  ) {
    let tables = ledger.committed.tables
    offerSources(
      of: ledger,
      tables.shown.map { table in
        let name = table.pattern?.text ?? ""
        return .init(
          name, table.doc, table.shape, kind: table.kind,
          isWritable: writers.contains { $0.pattern == name })
      },
      exists: { ledger.committed.isSource($0) }, beside: loading
    ) { service in
      guard !writers.isEmpty else { return }
      func writer(_ source: String) throws(NotWritable) -> TableWriter {
        let pattern = ledger.committed.tables.table(of: source)?.pattern?.text
        if let writer = writers.first(where: { $0.pattern == pattern }) { return writer }
        let parts = writers.map(\.pattern).filter { $0.hasPrefix((pattern ?? source) + "/") }
          .map { String($0.split(separator: "/").last ?? "") }
        throw parts.isEmpty ? .fixed(source) : .inParts(source, parts)
      }
      service.writes = writes
      service.writer = { source, value throws(NotWritable) in
        try writer(source).set(source, value)
      }
      service.clearer = { source throws(NotWritable) in
        guard let remove = try writer(source).remove else { throw .fixed(source) }
        try remove(source)
      }
    }
  }

  /// Offers the sources of a ledger, some of which are writable.
  ///
  /// - Parameters:
  ///   - writes: The event types that `write` may record.
  ///   - write: Sets a source and returns its new value.
  ///   - remove: Removes the value of a source; `nil` if the sources always have one.
  package func offerSources<State, Failure: ServiceError>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool, writes: [String],
    write: @escaping (_ source: String, _ value: JSONText) throws(Failure) -> JSONText,
    remove: ((_ source: String) throws(Failure) -> Void)? = nil
  ) {
    offerSources(of: ledger, descriptions, exists: exists, beside: nil) { service in
      service.writes = writes
      service.writer = { source, value throws(NotWritable) in
        do throws(Failure) {
          return try write(source, value)
        } catch {
          throw .refused(error)
        }
      }
      service.clearer = remove.map { remove in
        { source throws(NotWritable) in
          do throws(Failure) {
            try remove(source)
          } catch {
            throw .refused(error)
          }
        }
      }
    }
  }

  private func offerSources<State>(
    of ledger: Ledger<State>, _ descriptions: [SourceProvider.Description],
    exists: @escaping (String) -> Bool, now: ((String) -> JSONText?)? = nil,
    beside loading: LoadingSources?,
    _ addWriter: @escaping (Service) -> Void
  ) {
    var sources = SourceProvider(
      descriptions: descriptions, isJournaled: true, exists: exists, value: ledger.value(of:),
      // The quick answer of `get` to a numbered source has nothing beside the value.
      numbered: now == nil ? ledger.numbered : nil, now: now ?? { _ in nil },
      newest: ledger.pendingValue(of:),
      collection: ledger.collection(of:),
      search: { pattern, excluded, place, body throws(NameIndex.TooVain) in
        try ledger.search(pattern, without: excluded, from: &place, body)
      },
      canSearchGoOn: { ledger.canSearchGoOn },
      neighbours: { ledger.neighbours(of: $0, count: SourceProvider.neighbourCount) },
      changes: ledger.changes(of:), changesMatching: ledger.changes(matching:),
      collected: .init(
        feeds: { [ledger.feed(of: $0)] },
        others: { _ in Signal { _ in NonDisposable.instance } }))
    if let loading { sources = sources.beside(loading) }
    line(.sources) { [unowned self] in
      let service = offered(ledger.service, for: "sources of \(ledger.service)")
      precondition(service.journaled == nil, "the sources of \(service.name) are offered twice")
      service.journaled = sources
      service.mergeSources()
      addWriter(service)
    }
  }

  /// Calls a function with each journaled source of a service that has a value.
  package func forEachValue(of service: String, _ body: (String, JSONText) -> Void) {
    guard let sources = self.service(named: service)?.sources else { return }
    for pattern in [service, service + "/**"].compactMap({ Pattern($0) }) {
      var place = SearchPlace()
      try? sources.search(pattern, [], &place) { name in
        if sources.isJournaled(name), let value = sources.value(name) { body(name, value) }
        return true
      }
    }
  }

  /// Offers a measured value as a source that is not journaled.
  package func offerSource<Value: Codable>(
    _ name: String, _ doc: String, _ sampled: PolledValue<Value>, isOptional: Bool = false
  ) {
    let encoder = encoder
    func text(_ value: Value) -> JSONText { (try? encoder.text(value)) ?? .null }
    let source = SampledSource(
      value: { text(sampled.value) },
      changes: sampled.changes.map {
        SourceChange(source: name, seq: 0, value: text($0))
      })
    offer(
      SourceProvider.Description(name, doc, Shape(of: Value.self)), source, isOptional: isOptional)
  }

  /// Offers the value of a property as a source that is not journaled.
  ///
  /// - Parameter isOptional: Whether the source is left out where nobody offers its service.
  package func offerSource<Value: Codable>(
    _ name: String, _ doc: String, _ property: AnyProperty<Value>, isOptional: Bool = false
  ) {
    let encoder = encoder
    func text(_ value: Value) -> JSONText { (try? encoder.text(value)) ?? .null }
    let changes = property.toSignal().dropFirst(1).map {
      SourceChange(source: name, seq: 0, value: text($0))
    }
    offer(
      SourceProvider.Description(name, doc, Shape(of: Value.self)),
      SampledSource(value: { text(property.value) }, changes: changes), isOptional: isOptional)
  }

  /// Offers a source that is not journaled.
  func offer(
    _ description: SourceProvider.Description, _ source: SampledSource, isOptional: Bool = false
  ) {
    line(.sources) { [unowned self] in
      let name = description.name
      let first = String(name.prefix { $0 != "/" })
      if isOptional, self.service(named: first) == nil { return }
      let service = offered(first, for: "the source \(name)")
      precondition(
        service.sampled.allSatisfy { $0.description.name != name },
        "the source \(name) is offered twice")
      let place = service.sampled.firstIndex { $0.description.name > name }
      service.sampled.insert((description, source), at: place ?? service.sampled.count)
      service.mergeSources()
    }
  }
}

/// The functions with which clients set and remove the rows of a table.
package struct TableWriter {
  /// The names of the sources.
  package let pattern: String
  let set: Catalog.Writer
  let remove: Catalog.Clearer?

  package init(pattern: String, set: @escaping Catalog.Writer, remove: Catalog.Clearer?) {
    (self.pattern, self.set, self.remove) = (pattern, set, remove)
  }
}

/// A source that is not journaled.
struct SampledSource {
  let value: () -> JSONText
  let changes: Signal<SourceChange, Never>
}

extension Catalog.Service {
  /// Makes one provider of the journaled sources and of the others.
  fileprivate func mergeSources() {
    guard !sampled.isEmpty else { return sources = journaled }
    let others = SourceProvider(sampled: sampled)
    sources = journaled?.beside(others) ?? others
  }
}

extension SourceProvider {
  /// Creates the provider of a service whose sources are not journaled.
  fileprivate convenience init(sampled: [(Description, SampledSource)]) {
    var byName: [String: SampledSource] = [:]
    for (description, source) in sampled { byName[description.name] = source }
    let sources = byName
    self.init(
      descriptions: sampled.map(\.0), isJournaled: false, exists: { sources[$0] != nil },
      value: { sources[$0]?.value() },
      search: { pattern, excluded, _, body throws(NameIndex.TooVain) in
        _ = sources.keys.search(pattern, excluded, body)
      },
      neighbours: { _ in Array(sources.keys) },
      changes: { source in
        sources[source]?.changes ?? Signal { _ in NonDisposable.instance }
      },
      changesMatching: { pattern in
        Signal { observer in
          let bag = DisposeBag()
          for (name, source) in sources where pattern.matches(name) {
            source.changes.observeNext { observer.receive($0) }.dispose(in: bag)
          }
          return bag
        }
      })
  }
}
