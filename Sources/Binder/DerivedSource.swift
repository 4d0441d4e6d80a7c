internal import EventSourcing
internal import JSON

/// Sources whose values are computed from tables and follow them, such as a summary, or rows of several
/// tables in one value.
///
///     static let sources = [
///       Source.hidden(\Chores.items, in: "chores/*"), .hidden(\.steps, in: "chores/*"),
///       .derived("chores/*", "A chore with its steps.", ofEach: \.items, with: \.steps) {
///         chores, id, item in ShownChore(title: item.title, steps: chores.steps[id])
///       },
///       .derived("chores", "The number of chores.", ofAll: \.items) { chores in chores.items.count },
///     ]
///
/// Watchers get the whole value after each event that changes it. `bindctl at`, `why` and `history`
/// know such sources, clients cannot set them, and they cost a user no bytes.
///
/// A value is computed when it is read, and twice, before and after, by an event that writes the named
/// tables while somebody watches the source. Nothing is computed for a source that nobody watches. So
/// keep the value short, for example the last elements of a list: nothing limits its length. A table that
/// is not named changes no watched value: name each one that the function reads.
///
/// A value that cannot be written as JSON, for example with a `Double` that is no number, is shown as
/// `null`: the event that makes it is not refused, as it would be for a row.
extension Source {
  /// Computes a source for each row of a table: it exists while the row does.
  ///
  /// It changes with the row, and with the rows and lists of the other tables that have the same key.
  ///
  /// - Parameters:
  ///   - name: The names of the sources, with a `*` for the key.
  ///   - doc: A line for people.
  ///   - rows: A table that is listed too; usually hidden.
  ///   - others: Other tables and lists that the value depends on, with the same type of keys; one
  ///     with another type, and a ``Single``, which has none, end the start.
  ///   - isKey: Whether a key may have a row; a source with another one can never exist.
  ///   - value: Returns the value for a key and its row. It depends on the state alone: no clock, no
  ///     random number.
  public static func derived<Key: TableKey, Row: TableRow, Value: TableRow>(
    _ name: String, _ doc: String,
    ofEach rows: any WritableKeyPath<S, Table<Key, Row>> & Sendable,
    with others: any PartialKeyPath<S> & Sendable...,
    keys isKey: @escaping @Sendable (Key) -> Bool = { _ in true },
    value: @escaping @Sendable (_ state: S, _ key: Key, _ row: Row) -> Value
  ) -> Source {
    let pattern = SourcePattern(name)
    @Sendable func key(_ source: String) -> Key? {
      let key: Key? = pattern.key(of: source)
      return key.flatMap { isKey($0) ? $0 : nil }
    }
    return Source(
      .derived(
        pattern, doc, Shape(of: Value.self), hasKey: true,
        matches: { key($0) != nil },
        has: { stored, source in
          key(source).map { stored.state[keyPath: rows].contains($0) } ?? false
        },
        forEachName: { stored, body in
          for key in stored.state[keyPath: rows].keys where isKey(key) { body(pattern.name(key)) }
        },
        value: { stored, source in
          guard let key = key(source) else { return nil }
          return stored.state[keyPath: rows][key].map { text(value(stored.state, key, $0)) }
        }), nil, key: ObjectIdentifier(Key.self), bases: [rows] + others)
  }

  /// Computes one source from all rows of a table: it exists while the table has rows.
  ///
  /// A role that may read this source sees what it shows of all rows, also of those that the role may
  /// not read. Show numbers or names that nobody must hide.
  ///
  /// - Parameters:
  ///   - name: The name of the source: that of the service, or one below it.
  ///   - doc: A line for people.
  ///   - rows: A table that is listed too.
  ///   - others: Other tables, lists and single values that the value depends on.
  ///   - value: Returns the value. It depends on the state alone: no clock, no random number.
  public static func derived<Key: TableKey, Row: TableRow, Value: TableRow>(
    _ name: String, _ doc: String,
    ofAll rows: any WritableKeyPath<S, Table<Key, Row>> & Sendable,
    with others: any PartialKeyPath<S> & Sendable...,
    value: @escaping @Sendable (_ state: S) -> Value
  ) -> Source {
    let pattern = SourcePattern(name)
    @Sendable func has(_ stored: Stored<S>, _ source: String) -> Bool {
      source == name && !stored.state[keyPath: rows].isEmpty
    }
    return Source(
      .derived(
        pattern, doc, Shape(of: Value.self), hasKey: false, matches: { $0 == name }, has: has,
        forEachName: { stored, body in if has(stored, name) { body(name) } },
        value: { has($0, $1) ? text(value($0.state)) : nil }), nil, bases: [rows] + others)
  }

  /// Returns a value as JSON.
  private static func text(_ value: some TableRow) -> JSONText {
    (try? JSONEncoder().text(value)) ?? .null
  }
}

extension Source {
  /// Returns the mistakes in the derived sources, a sentence each.
  static func mistakesOfDerived() -> [String] {
    S.sources.flatMap { source -> [String] in
      let name = source.table.pattern?.text ?? ""
      return source.bases.compactMap { base in
        guard let table = S.sources.first(where: { $0.path == base }) else {
          return "'\(name)' is derived from a table that 'sources' of \(S.self) does not list"
        }
        guard source.table.hasKey, table.key != source.key else { return nil }
        return table.key == nil
          ? "'\(name)' has keys, and is derived from a value without one: derive one of all rows"
          : "'\(name)' is derived from a table with another type of keys than its rows"
      }
    }
  }
}
