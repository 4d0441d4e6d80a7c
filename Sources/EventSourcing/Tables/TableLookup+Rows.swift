public import JSON

extension TableList {
  /// Returns the name of a table with stored rows, for events.
  ///
  /// It is the pattern of the sources; tables that clients do not see are numbered: `#1`.
  func name(of table: Int) -> String {
    if let pattern = sources[table].pattern { return pattern.text }
    return "#\(sources[...table].count { $0.pattern == nil && $0.stored != nil })"
  }

  /// Returns the number of the table with stored rows that has a name; `nil` if there is none.
  func table(named name: String) -> Int? {
    sources.indices.first { sources[$0].stored != nil && self.name(of: $0) == name }
  }
}

extension TableState {
  /// Sets rows back; skips those that the tables do not have any more.
  @usableFromInline
  package mutating func restore(_ restored: RestoredRows) {
    let tables = tables
    for row in restored.rows {
      guard let table = tables.table(named: row.table) else { continue }
      tables.sources[table].stored?.restore(&self, row.key ?? "", row.row)
    }
  }

  /// Returns the rule that an event breaks; `nil` if all of its rows can be restored.
  @usableFromInline
  package func fault(of restored: RestoredRows) -> String? {
    for row in restored.rows {
      guard let table = tables.table(named: row.table) else {
        return "there is no table '\(row.table)'"
      }
      if let rule = tables.sources[table].stored?.fault(row.key ?? "", row.row) { return rule }
    }
    return nil
  }
}

extension TableLookup {
  @usableFromInline
  package static var restoresRows: Bool { State.restoresRows }

  @usableFromInline
  package static func writes(
    of event: State.Event, at place: EventContext, in state: inout State,
    _ choose: (EventWrites) -> (RowPlace) -> Bool
  ) -> [RowWrite] {
    let obstacle = state.obstacle(toUndoing: event)
    let tables = state.tables
    tables.startNoting(in: &state)
    state.apply(event, at: place)
    var places: [RowPlace] = []
    for number in tables.sources.indices {
      guard let stored = tables.sources[number].stored else { continue }
      places += Set(stored.written(state)).map { RowPlace(table: number, key: $0) }
    }
    let isWanted = choose(
      EventWrites(
        places: places, sources: places.compactMap { tables.source(of: $0) }, obstacle: obstacle))
    var writes: [RowWrite] = []
    for (number, source) in tables.sources.enumerated() {
      let rows = source.stored?.pop(&state) { isWanted(RowPlace(table: number, key: $0)) } ?? []
      writes += rows.map {
        RowWrite(place: RowPlace(table: number, key: $0.0), before: $0.1, after: $0.2)
      }
      source.setNoting(&state, nil)
    }
    return writes
  }

  @usableFromInline
  package static func row(at place: RowPlace, in state: State) -> JSONText? {
    state.tables.sources[place.table].stored?.row(state, place.key)
  }

  @usableFromInline
  package static func named(_ place: RowPlace, in state: State) -> NamedPlace? {
    let tables = state.tables
    let source = tables.sources[place.table]
    return NamedPlace(
      table: tables.name(of: place.table), key: source.hasKey ? place.key : nil,
      source: tables.source(of: place), stream: source.streams.map { source.name($0, place) },
      shown: { source.stored?.shown(place.key, $0) },
      isSame: { source.stored?.isSame($0, $1) == true })
  }
}

extension TableList {
  fileprivate func source(of place: RowPlace) -> String? {
    sources[place.table].pattern.map { sources[place.table].name($0, place) }
  }
}

extension TableSource {
  fileprivate func name(_ pattern: SourcePattern, _ place: RowPlace) -> String {
    hasKey ? pattern.name(place.key) : pattern.text
  }
}
