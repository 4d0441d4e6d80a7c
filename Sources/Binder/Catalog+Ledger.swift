internal import API
internal import EventSourcing
internal import JSON

// The tables of a service.
extension Catalog {
  /// Offers the tables of a service as sources.
  ///
  /// Later offers belong to this service, until the next one is offered.
  ///
  /// - Parameter doc: A line about the service, for people.
  public func offer<S: State>(
    _ doc: String, _ ledger: Ledger<S>, file: StaticString = #fileID, line: UInt = #line
  ) {
    let service = ledger.service
    guard claim("service '\(service)'", SourcePlace(file, line)) else { return }
    begin(service, knows: StoredEvent<S>.knows)
    add { [unowned self] catalog in
      catalog.add(service, doc, events: recordedKinds(of: service).map { "\(service).\($0)" })
      let (writers, kinds) = writers(of: service)
      catalog.offerTables(
        of: ledger.engine, writes: kinds.map { "\(service).\($0)" }, writers: writers)
    }
  }

  /// Lets clients set the rows of a table: `bindctl set chores/7 milk`.
  ///
  /// - Parameters:
  ///   - ledger: The ledger of the service.
  ///   - path: A table that clients see.
  ///   - kinds: The kinds of events that the function may record.
  ///   - set: Gets the key and the new row.
  ///   - remove: Gets the key of a row to remove; without it rows cannot be removed by name.
  public func write<S: State, Key: TableKey, Row: TableRow>(
    _ path: KeyPath<S, Table<Key, Row>>, of ledger: Ledger<S>, records kinds: String...,
    file: StaticString = #fileID, line: UInt = #line,
    calls set: @escaping (Key, Row) throws -> Void,
    removes remove: ((Key) throws -> Void)? = nil
  ) {
    let place = SourcePlace(file, line)
    guard let service, ledger.service == service else {
      return host.addMistake(
        "rows of '\(ledger.service)' are offered before their service", place)
    }
    guard checkKinds(kinds, of: service, for: "a writer", place) else { return }
    guard let pattern = S.sources[ledger.number(of: path)].table.pattern else {
      return host.addMistake("clients do not see \(path)", place)
    }
    let decoder = JSONDecoder()
    func call<Result>(_ body: () throws -> Result) throws(NotWritable) -> Result {
      do {
        return try body()
      } catch {
        throw .refused(ServiceRejection.ofWriter(error))
      }
    }
    add(
      TableWriter(
        pattern: pattern.text,
        set: { source, value throws(NotWritable) in
          guard let key: Key = pattern.key(of: source) else { throw .missing(source) }
          return try call {
            try set(key, try decoder.decode(from: value))
            return ledger.engine.pendingValue(of: source) ?? .null
          }
        },
        remove: remove.map { remove in
          { source throws(NotWritable) in
            guard let key: Key = pattern.key(of: source) else { throw .missing(source) }
            try call { try remove(key) }
          }
        }), records: kinds, place)
  }

  /// Lets an administrator remove rows of a table: `NAME --remove 'chores/*'`.
  ///
  /// - Parameters:
  ///   - path: A table that clients see.
  ///   - ledger: The ledger of the service.
  ///   - method: The name that `history --who` shows: `chores.remove`.
  ///   - remove: Gets the key of a row.
  public func removal<S: State, Key: TableKey, Row: TableRow>(
    of path: KeyPath<S, Table<Key, Row>>, _ ledger: Ledger<S>, as method: String,
    calls remove: @escaping (Key) throws -> Void
  ) {
    guard let pattern = S.sources[ledger.number(of: path)].table.pattern else { return }
    add(
      Remover(
        method: method, names: { ledger.committed[keyPath: path].keys.map(pattern.name) },
        remove: { name in if let key: Key = pattern.key(of: name) { try remove(key) } }))
  }
}
