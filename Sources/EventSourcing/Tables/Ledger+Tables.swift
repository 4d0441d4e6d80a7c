public import Signals

extension Ledger where State: TableState {
  /// Returns the durable rows of a table as a list ordered by key, for views.
  ///
  /// Views share it.
  @usableFromInline
  package func rows<Key: TableKey, Row: TableRow>(
    of path: KeyPath<State, Table<Key, Row>>
  ) -> RowList<Key, Row> {
    guard let number = committed.tables.number(of: path) else {
      preconditionFailure("the tables of \(service) do not list \(path)")
    }
    return rows(ofTable: number) { $0[keyPath: path] }
  }

  /// Returns the durable rows of the table with a number; see ``rows(of:)``.
  @usableFromInline
  package func rows<Key: TableKey, Row: TableRow>(
    ofTable number: Int, _ table: @escaping (State) -> Table<Key, Row>
  ) -> RowList<Key, Row> {
    precondition(
      State.Lookup.self == TableLookup<State>.self, "\(State.self) does not declare its Lookup")
    return RowList(
      Identity(self, number), keys: { [self] in Array(table(committed).rows.keys) },
      row: { [self] in table(committed).rows[$0] },
      changes: tables.rows(number, Key.self).changes.map { .rows($0) })
  }

  /// Records an event in the stream of a row, which then has a history and rights of its own.
  @inlinable
  package func record<Key: TableKey, Row: TableRow>(
    _ event: State.Event, of path: KeyPath<State, Table<Key, Row>>, _ key: Key
  ) {
    record(event, in: tables.stream(streams(of: path), key))
  }

  /// Returns the names of the streams of a table's rows.
  @usableFromInline
  package func streams(of path: PartialKeyPath<State>) -> SourcePattern {
    guard let number = committed.tables.number(of: path),
      let streams = committed.tables.sources[number].streams
    else { preconditionFailure("the rows at \(path) of \(service) have no streams") }
    return streams
  }

  /// Records an event in the stream of a row of the table with a number.
  @inlinable
  package func record(
    _ event: State.Event, inTable number: Int, _ key: some TableKey
  ) {
    guard let streams = committed.tables.sources[number].streams else {
      preconditionFailure("the rows of table \(number) of \(service) have no streams")
    }
    record(event, in: tables.stream(streams, key))
  }
}
