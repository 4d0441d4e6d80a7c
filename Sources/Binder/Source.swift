public import EventSourcing
public import Signals

/// A table of a state, and the names under which clients see its rows.
///
/// ``State/sources`` lists all tables of a state, hidden ones too.
public struct Source<S: State>: Sendable {
  @usableFromInline
  let table: TableSource<Stored<S>>
  @usableFromInline
  let path: (any PartialKeyPath<S> & Sendable)?

  /// The sources of parts of its rows.
  let parts: [TableSource<Stored<S>>]

  /// The tables from which it is computed, the one with its rows first; none if it is a table.
  let bases: [any PartialKeyPath<S> & Sendable]

  /// The type of its keys; `nil` if it has none.
  let key: ObjectIdentifier?

  @usableFromInline
  init(
    _ table: TableSource<Stored<S>>, _ path: (any PartialKeyPath<S> & Sendable)?,
    key: ObjectIdentifier? = nil, parts: [TableSource<Stored<S>>] = [],
    bases: [any PartialKeyPath<S> & Sendable] = []
  ) {
    (self.table, self.path, self.key) = (table, path, key)
    (self.parts, self.bases) = (parts, bases)
  }

  /// Shows each row of a table as a source.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - name: The names of the sources. A `*` is the key: `chores/*` is `chores/7` for the key 7. With
  ///     `**` at the end, a key may have several segments.
  ///   - doc: A line for people.
  ///   - parts: Parts of the rows that are sources too: `chores/7/title`.
  @inlinable
  public static func rows<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, _ name: String, _ doc: String,
    parts: [SourcePart<Row>] = []
  ) -> Source { rowTable(path, name, doc, parts.map(\.engine)) }

  /// Shows each row of a table as a source in another form than the stored one.
  ///
  ///     struct ShownChore: Codable, ListRow {
  ///       let id: Int
  ///       let title: String
  ///       init(_ id: Int, _ chore: Chore) { (self.id, title) = (id, chore.title) }
  ///     }
  ///
  ///     Source.rows(\Chores.items, "chores/*", "A chore.", as: ShownChore.self)
  ///
  /// An event that does not change the form changes no source. For the other parameters see
  /// ``rows(_:_:_:parts:)``.
  ///
  /// - Parameters:
  ///   - form: The form that clients see; it depends on the key and the row alone.
  ///   - isKey: Whether a key may have a row; a source with another one can never exist.
  public static func rows<Key: TableKey, Row: TableRow, Shown: ListRow & TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, _ name: String, _ doc: String,
    as form: Shown.Type, keys isKey: @escaping @Sendable (Key) -> Bool = { _ in true },
    parts: [SourcePart<Row>] = []
  ) -> Source where Shown.Key == Key, Shown.Value == Row {
    rowTable(path, name, doc, parts.map(\.engine), ShownForm(isKey) { Shown($0, $1) })
  }

  /// Shows a value as a source.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - name: The name of the source: that of the service, or one below it: `chores/open`.
  ///   - doc: A line for people.
  @inlinable
  public static func single<Row: TableRow>(
    _ path: any WritableKeyPath<S, Single<Row>> & Sendable, _ name: String, _ doc: String
  ) -> Source { singleTable(path, name, doc) }

  /// Shows each list of a table as a source, whose watchers get steps.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - name: The names of the sources, with a `*` for the key.
  ///   - doc: A line for people.
  ///   - streams: The names of the streams of rows to which the lists belong: `chores/*`. The bytes of
  ///     a list are charged to the stream of its row, and a list without elements is there as long as
  ///     its row is. By default each list has a stream of its own.
  ///   - isMerging: Whether the step of an updated element has only its changed members:
  ///     `{"op":"merge","at":3,"value":{"likes":2}}`.
  @inlinable
  public static func lists<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, _ name: String, _ doc: String,
    in streams: String? = nil, isMerging: Bool = false
  ) -> Source { listTable(path, name, doc, in: streams, isMerging: isMerging) }

  /// Shows each list of a table as a source in another form than the stored one.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - name: The names of the sources, with a `*` for the key.
  ///   - doc: A line for people.
  ///   - form: The form of an element that clients see; it depends on the element alone.
  ///   - isKey: Whether a key may have a list; a source with another one can never exist.
  ///   - streams: The names of the streams of rows to which the lists belong; see
  ///     ``lists(_:_:_:in:isMerging:)``.
  ///   - isMerging: Whether the step of an updated element has only its changed members:
  ///     `{"op":"merge","at":3,"value":{"likes":2}}`.
  public static func lists<Key: TableKey, Element: TableRow, Shown: Rendering & TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, _ name: String, _ doc: String,
    as form: Shown.Type, keys isKey: @escaping @Sendable (Key) -> Bool = { _ in true },
    in streams: String? = nil, isMerging: Bool = false
  ) -> Source where Shown.Value == Element {
    listTable(path, name, doc, ShownForm(isKey) { Shown($1) }, in: streams, isMerging: isMerging)
  }

  /// A table that clients do not see.
  @inlinable
  public static func hidden<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable
  ) -> Source { rowTable(path, nil, "") }

  /// A table that clients do not see, and whose rows have streams; see ``Ledger/record(_:of:_:)``.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - streams: The names of the streams, with a `*` for the key: `chores/*`.
  @inlinable
  public static func hidden<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, in streams: String
  ) -> Source { rowTable(path, nil, "", in: streams) }

  /// A value that clients do not see.
  @inlinable
  public static func hidden<Row: TableRow>(
    _ path: any WritableKeyPath<S, Single<Row>> & Sendable
  ) -> Source { singleTable(path, nil, "") }

  /// Lists that clients do not see.
  @inlinable
  public static func hidden<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable
  ) -> Source { listTable(path, nil, "") }

  /// Lists that clients do not see, and that are charged to streams; see ``hidden(_:in:)``.
  @inlinable
  public static func hidden<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, in streams: String
  ) -> Source { listTable(path, nil, "", in: streams) }

  @inlinable
  static func rowTable<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, _ name: String?, _ doc: String,
    _ parts: [RowPart<Row>] = [], _ form: ShownForm<Key, Row>? = nil, in streams: String? = nil
  ) -> Source {
    let access = access(path)
    return Source(
      .rows(
        name, doc, in: streams, form: form, parts: parts, get: { $0.state[keyPath: path].engine },
        access: { state, body in access(&state) { body(&$0.engine) } }), path,
      key: ObjectIdentifier(Key.self),
      parts: parts.map { .part($0, get: { $0.state[keyPath: path].engine }) })
  }

  @inlinable
  static func singleTable<Row: TableRow>(
    _ path: any WritableKeyPath<S, Single<Row>> & Sendable, _ name: String?, _ doc: String
  ) -> Source {
    let access = access(path)
    return Source(
      .single(
        name, doc, get: { $0.state[keyPath: path].engine },
        access: { state, body in access(&state) { body(&$0.engine) } }), path)
  }

  @inlinable
  static func listTable<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, _ name: String?,
    _ doc: String, _ form: ShownForm<Key, Element>? = nil, in streams: String? = nil,
    isMerging: Bool = false
  ) -> Source {
    let access = access(path)
    return Source(
      .lists(
        name, doc, in: streams, form: form, isMerging: isMerging,
        get: { $0.state[keyPath: path].engine },
        access: { state, body in access(&state) { body(&$0.engine) } }), path,
      key: ObjectIdentifier(Key.self))
  }

  /// Returns how to reach a stored property of a state.
  @inlinable
  static func access<T>(
    _ path: any WritableKeyPath<S, T> & Sendable
  ) -> TableSource<Stored<S>>.Access<T> {
    // A write through a key path costs several times as much.
    guard let offset = MemoryLayout<S>.offset(of: path) else {
      return { stored, body in body(&stored.state[keyPath: path]) }
    }
    return { stored, body in
      unsafe withUnsafeMutableBytes(of: &stored.state) { bytes in
        unsafe body(
          &(bytes.baseAddress.unsafelyUnwrapped + offset).assumingMemoryBound(to: T.self).pointee)
      }
    }
  }

  /// The tables of a state, then the sources of parts of their rows.
  @usableFromInline
  static var tables: [TableSource<Stored<S>>] {
    let sources = S.sources
    let tables = sources.map { source in
      var table = source.table
      table.bases = source.bases.compactMap { base in sources.firstIndex { $0.path == base } }
      return table
    }
    return tables + sources.flatMap(\.parts)
  }

  /// Returns the mistakes in the tables of a state, a sentence each.
  static func mistakes(in service: String) -> [String] {
    let sources = S.sources
    let tables = Self.tables
    var mistakes: [String] = []
    for table in tables {
      for (pattern, what) in [(table.pattern, "sources"), (table.streams, "streams")] {
        guard let pattern, what == "sources" || pattern != table.pattern else { continue }
        if let rule = pattern.fault(of: service, hasKey: table.hasKey) {
          mistakes.append("'\(pattern.text)' is no name of \(what) of '\(service)': \(rule)")
        }
      }
    }
    let names = tables.compactMap(\.pattern?.text)
    for name in Set(names) where names.count(where: { $0 == name }) > 1 {
      mistakes.append("two tables of \(S.self) have the sources '\(name)'")
    }
    for (index, table) in tables.enumerated() {
      for other in tables[..<index] {
        guard let pattern = table.pattern, let earlier = other.pattern,
          pattern != earlier, let name = pattern.example(with: earlier),
          table.matches(name), other.matches(name)
        else { continue }
        mistakes.append(
          "the sources '\(pattern.text)' and '\(earlier.text)' of \(S.self) may have the same name, such "
            + "as '\(name)'")
      }
    }
    mistakes += mistakesOfDerived()
    let paths = sources.compactMap(\.path)
    for (index, path) in paths.enumerated() where paths[..<index].contains(where: { $0 == path }) {
      mistakes.append("a table of \(S.self) is listed twice in 'sources'")
    }
    var found = 0
    for property in Mirror(reflecting: S()).children {
      if property.value is any NotingTable {
        found += 1
      } else {
        mistakes.append(
          "'\(property.label ?? "")' of \(S.self) is no table: an event could not be taken back; "
            + "make it a Single, a Table or Lists")
      }
    }
    if found > paths.count {
      mistakes.append(
        "\(S.self) has \(found) tables and lists \(paths.count) in 'sources'; list those that "
          + "clients do not see as .hidden")
    }
    return mistakes.sorted()
  }
}

/// A part of each row of a table that is a source of its own: `chores/7/title`.
public struct SourcePart<Row: TableRow>: Sendable {
  @usableFromInline
  let engine: RowPart<Row>

  /// Shows a part of each row.
  ///
  ///     .rows(\Chores.items, "chores/*", "A chore.", parts: [
  ///       .part("chores/*/title", "Its title.") { $0.title }
  ///     ])
  ///
  /// - Parameters:
  ///   - name: The names of the sources, with a `*` for the key of the row.
  ///   - doc: A line for people.
  ///   - part: Returns the part of a row; it depends on the row alone.
  public static func part<Part: TableRow>(
    _ name: String, _ doc: String, _ part: @escaping @Sendable (Row) -> Part
  ) -> SourcePart { SourcePart(engine: RowPart(name, doc, part)) }
}
