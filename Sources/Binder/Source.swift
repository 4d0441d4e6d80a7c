public import EventSourcing

/// A table of a state, and the names under which clients see its rows.
///
/// ``State/sources`` lists all tables of a state, hidden ones too.
public struct Source<S: State>: Sendable {
  @usableFromInline
  let table: TableSource<Stored<S>>
  @usableFromInline
  let path: any PartialKeyPath<S> & Sendable

  @usableFromInline
  init(_ table: TableSource<Stored<S>>, _ path: any PartialKeyPath<S> & Sendable) {
    (self.table, self.path) = (table, path)
  }

  /// Shows each row of a table as a source.
  ///
  /// - Parameters:
  ///   - path: A stored property.
  ///   - name: The names of the sources. A `*` is the key: `chores/*` is `chores/7` for the key 7. With
  ///     `**` at the end, a key may have several segments.
  ///   - doc: A line for people.
  @inlinable
  public static func rows<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, _ name: String, _ doc: String
  ) -> Source { rowTable(path, name, doc) }

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
  @inlinable
  public static func lists<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, _ name: String, _ doc: String
  ) -> Source { listTable(path, name, doc) }

  /// A table that clients do not see.
  @inlinable
  public static func hidden<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable
  ) -> Source { rowTable(path, nil, "") }

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

  @inlinable
  static func rowTable<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<S, Table<Key, Row>> & Sendable, _ name: String?, _ doc: String
  ) -> Source {
    let access = access(path)
    return Source(
      .rows(
        name, doc, get: { $0.state[keyPath: path].engine },
        access: { state, body in access(&state) { body(&$0.engine) } }), path)
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
    _ path: any WritableKeyPath<S, Lists<Key, Element>> & Sendable, _ name: String?, _ doc: String
  ) -> Source {
    let access = access(path)
    return Source(
      .lists(
        name, doc, get: { $0.state[keyPath: path].engine },
        access: { state, body in access(&state) { body(&$0.engine) } }), path)
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

  /// Returns the mistakes in the tables of a state, a sentence each.
  static func mistakes(in service: String) -> [String] {
    let sources = S.sources
    var mistakes: [String] = []
    for source in sources {
      guard let pattern = source.table.pattern else { continue }
      if let rule = pattern.fault(of: service, hasKey: source.table.hasKey) {
        mistakes.append("'\(pattern.text)' is no name of sources of '\(service)': \(rule)")
      }
    }
    let names = sources.compactMap(\.table.pattern?.text)
    for name in Set(names) where names.count(where: { $0 == name }) > 1 {
      mistakes.append("two tables of \(S.self) have the sources '\(name)'")
    }
    for (index, source) in sources.enumerated() {
      for other in sources[..<index] {
        guard let pattern = source.table.pattern, let earlier = other.table.pattern,
          pattern != earlier, let name = pattern.example(with: earlier),
          source.table.matches(name), other.table.matches(name)
        else { continue }
        mistakes.append(
          "the sources '\(pattern.text)' and '\(earlier.text)' of \(S.self) may have the same name, such "
            + "as '\(name)'")
      }
    }
    let paths = sources.map(\.path)
    for (index, path) in paths.enumerated() where paths[..<index].contains(where: { $0 == path }) {
      mistakes.append("a table of \(S.self) is listed twice in 'sources'")
    }
    var tables = 0
    for property in Mirror(reflecting: S()).children {
      if property.value is any NotingTable {
        tables += 1
      } else {
        mistakes.append(
          "'\(property.label ?? "")' of \(S.self) is no table: an event could not be taken back; "
            + "make it a Single, a Table or Lists")
      }
    }
    if tables > paths.count {
      mistakes.append(
        "\(S.self) has \(tables) tables and lists \(paths.count) in 'sources'; list those that "
          + "clients do not see as .hidden")
    }
    return mistakes.sorted()
  }
}
