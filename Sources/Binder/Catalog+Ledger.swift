internal import API
internal import Configuration
internal import EventSourcing
internal import JSON
public import Signals

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
    let tables = Source<S>.tables
    begin(
      service, isRow: { name in tables.contains { $0.matches(name) } },
      patterns: Set(tables.filter(\.hasKey).compactMap(\.pattern?.text)),
      knows: StoredEvent<S>.knows)
    add { [unowned self] catalog in
      catalog.add(service, doc, events: recordedKinds(of: service).map { "\(service).\($0)" })
      let (writers, kinds) = writers(of: service)
      catalog.offerTables(
        of: ledger.engine, writes: kinds.map { "\(service).\($0)" }, writers: writers,
        beside: loaded(of: service))
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
    guard let pattern = S.sources[ledger.number(of: path)].table.pattern else {
      return host.addMistake("clients do not see \(path)", place)
    }
    write(pattern, of: ledger, records: kinds, place, set, remove)
  }

  /// Lets clients set the parts of rows, or rows in another form: `bindctl set chores/7/title milk`.
  ///
  /// - Parameters:
  ///   - sources: The names of the sources, as ``State/sources`` lists them: `chores/*/title`.
  ///   - ledger: The ledger of the service.
  ///   - kinds: The kinds of events that the function may record.
  ///   - set: Gets the key and the new value, which may be any type that decodes; as `JSONText` it is
  ///     what the client has sent.
  public func write<S: State, Key: TableKey, Value: Decodable>(
    _ sources: String, of ledger: Ledger<S>, records kinds: String...,
    file: StaticString = #fileID, line: UInt = #line,
    calls set: @escaping (Key, Value) throws -> Void
  ) {
    let place = SourcePlace(file, line)
    let table = Source<S>.tables.first { $0.hasKey && $0.pattern?.text == sources }
    guard let pattern = table?.pattern else {
      return host.addMistake("'\(sources)' is no name of sources of \(S.self)", place)
    }
    write(pattern, of: ledger, records: kinds, place, set, nil)
  }

  private func write<S: State, Key: TableKey, Value: Decodable>(
    _ pattern: SourcePattern, of ledger: Ledger<S>, records kinds: [String], _ place: SourcePlace,
    _ set: @escaping (Key, Value) throws -> Void, _ remove: ((Key) throws -> Void)?
  ) {
    guard let service, ledger.service == service else {
      return host.addMistake(
        "rows of '\(ledger.service)' are offered before their service", place)
    }
    guard checkKinds(kinds, of: service, for: "a writer", place) else { return }
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

  /// Offers a method that lists the rows of a table, ordered by key: those that the client may read.
  ///
  /// A long list is made in parts, so that other clients need not wait.
  ///
  /// - Parameters:
  ///   - name: The full name of the method: `chores.list`.
  ///   - doc: A line for people.
  ///   - path: A table that clients see.
  ///   - ledger: The ledger of the service.
  public func list<S: State, Row: TableRow>(
    _ name: String, _ doc: String, _ path: KeyPath<S, Table<Int, Row>>, of ledger: Ledger<S>,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    list(name, doc, path, ledger, SourcePlace(file, line)) { $1 }
  }

  /// Offers a method that lists the rows of a table in another form than the stored one; see
  /// ``list(_:_:_:of:file:line:)``.
  ///
  /// - Parameter form: The form of a row, as in ``Source/rows(_:_:_:as:parts:)``.
  public func list<S: State, Row: TableRow, Shown: ListRow & TableRow>(
    _ name: String, _ doc: String, _ path: KeyPath<S, Table<Int, Row>>, of ledger: Ledger<S>,
    as form: Shown.Type, file: StaticString = #fileID, line: UInt = #line
  ) where Shown.Key == Int, Shown.Value == Row {
    list(name, doc, path, ledger, SourcePlace(file, line)) { Shown($0, $1) }
  }

  private func list<S: State, Row: TableRow, Shown: Codable>(
    _ name: String, _ doc: String, _ path: KeyPath<S, Table<Int, Row>>, _ ledger: Ledger<S>,
    _ place: SourcePlace, _ show: @escaping (Int, Row) -> Shown
  ) {
    guard let pattern = listed(name, path, ledger, place) else { return }
    let rows = ledger.rows(path)
    add { catalog in
      catalog.listQuery(name, doc, of: Shown.self) { context in
        context.rows(rows, where: { context.role.mayRead(pattern.name($0)) }, show)
      }
    }
  }

  /// Offers a method that lists the rows of a table in another form than the stored one; see
  /// ``list(_:_:_:of:file:line:)``.
  ///
  /// - Parameter form: The form of a row, as in ``Source/rows(_:_:_:as:keys:parts:)``.
  public func list<S: State, Row: TableRow, Shown: ListRow & TableRow>(
    _ name: String, _ doc: String, _ path: KeyPath<S, Table<String, Row>>, of ledger: Ledger<S>,
    as form: Shown.Type, file: StaticString = #fileID, line: UInt = #line
  ) where Shown.Key == String, Shown.Value == Row {
    guard let pattern = listed(name, path, ledger, SourcePlace(file, line)) else { return }
    let rows = ledger.rows(path)
    add { catalog in
      catalog.listQuery(name, doc, of: Shown.self) { context in
        context.rows(
          named: rows.keys, changes: ledger.events.compactMap { $0.context.key(String.self) }
        ) { key in
          context.role.mayRead(pattern.name(key)) ? rows.row(key).map { Shown(key, $0) } : nil
        }
      }
    }
  }

  /// Offers a method that lists the rows of a table; see ``list(_:_:_:of:file:line:)``.
  public func list<S: State, Row: TableRow>(
    _ name: String, _ doc: String, _ path: KeyPath<S, Table<String, Row>>, of ledger: Ledger<S>,
    file: StaticString = #fileID, line: UInt = #line
  ) {
    guard let pattern = listed(name, path, ledger, SourcePlace(file, line)) else { return }
    let rows = ledger.rows(path)
    add { catalog in
      catalog.listQuery(name, doc, of: Row.self) { context in
        context.rows(named: rows.keys) {
          context.role.mayRead(pattern.name($0)) ? rows.row($0) : nil
        }
      }
    }
  }

  /// Offers a method that lists rows which a service computes, ordered by key: those that the client
  /// may read.
  ///
  ///     catalog.list(
  ///       "chores.mine", "Your chores.", asUser, reads: "chores/*", as: ShownChore.self
  ///     ) { (caller: Caller, name: String?) in chores.rows(of: try name(of: caller, name)) }
  ///
  /// - Parameters:
  ///   - name: The full name, which begins with that of the service.
  ///   - doc: A line for people.
  ///   - parameters: One for each parameter of the function after the client, in its order.
  ///   - reasons: The reasons with which it may reject, besides those of the parameters.
  ///   - sources: The names of the sources that the rows show, with a `*` for the key, as
  ///     ``State/sources`` lists them. Clients get the rows whose sources they may read.
  ///   - form: The form of a row.
  ///   - rows: Returns the rows; a row that is `nil` is left out.
  public func list<each Value: Decodable, Row, Shown: ListRow & Codable>(
    _ name: String, _ doc: String, _ parameters: repeat Parameter<each Value>,
    rejects reasons: String..., reads sources: String, as form: Shown.Type,
    file: StaticString = #fileID, line: UInt = #line,
    rows: @escaping (Caller, repeat each Value) throws -> RowList<Int, Row>
  ) where Shown.Key == Int, Shown.Value == Row {
    let place = SourcePlace(file, line)
    guard claim(name, "method", ".", place) else { return }
    // Another pattern would show rows to roles that may not read them.
    guard patterns.contains(sources) else {
      return host.addMistake(
        "\(name) reads '\(sources)', which is no source of \(service ?? "")", place)
    }
    var (described, all): ([API.Method.Parameter], [String]) = ([], reasons)
    repeat described.append((each parameters).described)
    repeat all += (each parameters).reasons
    guard host.checkNames(of: described, of: name, place) else { return }
    let (pattern, rejects) = (SourcePattern(sources), all)
    add { catalog in
      catalog.listQuery(name, doc, taking: described, errors: rejects) { context, texts in
        var rest = texts[...]
        let values = try (repeat (each parameters).value(of: rest.removeFirst(), catalog.decoder))
        do {
          return context.rows(
            try rows(Caller(context), repeat each values),
            where: { context.role.mayRead(pattern.name($0)) }
          ) { Shown($0, $1) }
        } catch {
          throw ServiceRejection.adapted(error)
        }
      }
    }
  }

  /// Returns the names of the rows of a table that a method lists; `nil` for a mistake.
  private func listed<S: State>(
    _ name: String, _ path: AnyKeyPath, _ ledger: Ledger<S>, _ place: SourcePlace
  ) -> SourcePattern? {
    guard claim(name, "method", ".", place) else { return nil }
    guard let pattern = S.sources[ledger.number(of: path)].table.streams else {
      host.addMistake("the rows at \(path) have no streams", place)
      return nil
    }
    return pattern
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
    guard let pattern = S.sources[ledger.number(of: path)].table.streams else { return }
    add(
      Remover(
        method: method, names: { ledger.committed[keyPath: path].keys.map(pattern.name) },
        remove: { name in if let key: Key = pattern.key(of: name) { try remove(key) } }))
  }
}
