internal import JSON

/// Access to the stored rows of a table as JSON.
@usableFromInline
package struct StoredRows<State>: Sendable {
  /// Returns the keys that the running event has written.
  let written: @Sendable (State) -> [String]

  /// Ends the event, and returns the rows whose keys meet a condition.
  let pop: @Sendable (inout State, (String) -> Bool) -> [(String, JSONText?, JSONText?)]
  let row: @Sendable (State, _ key: String) -> JSONText?

  /// Returns the rule that a row breaks; `nil` if it can be restored.
  let fault: @Sendable (_ key: String, JSONText?) -> String?

  /// Adds, replaces or removes a row.
  let restore: @Sendable (inout State, _ key: String, JSONText?) -> Void

  /// Returns a row as clients see it.
  let shown: @Sendable (_ key: String, JSONText) -> JSONText?

  /// Compares two rows; the members of a dictionary or a set may have another order.
  let isSame: @Sendable (JSONText, JSONText) -> Bool
}

/// Reads rows from JSON.
private enum RowReader {
  static func row<Row: TableRow>(_ text: JSONText) -> Row? {
    if let row = text as? Row { return row }
    return try? JSONDecoder().decode(Row.self, from: text, unknownMembers: .ignored)
  }

  static func isSame<Row: TableRow>(_ a: JSONText, _ b: JSONText, _ type: Row.Type) -> Bool {
    if a == b || a.value == b.value { return true }
    guard let row: Row = row(a), let other: Row = self.row(b) else { return false }
    func compare(_ row: some Equatable) -> Bool { isEqual(row, other) }
    return (row as? any Equatable).map { compare($0) } ?? false
  }

  private static func isEqual<Row: Equatable>(_ row: Row, _ other: Any) -> Bool {
    other as? Row == row
  }
}

extension StoredRows {
  @usableFromInline
  static func rows<Key: TableKey, Row: TableRow>(
    _ form: ShownForm<Key, Row>?, get: @escaping @Sendable (State) -> Table<Key, Row>,
    access: @escaping @Sendable (inout State, (inout Table<Key, Row>) -> Void) -> Void
  ) -> StoredRows {
    StoredRows(
      written: { get($0).notes.fresh.map(\.key.description) },
      pop: { state, isWanted in
        var rows: [(String, JSONText?, JSONText?)] = []
        access(&state) { table in
          table.finishEvent(at: 0) { key, before, after in
            guard isWanted(key.description) else { return }
            let encoder = JSONEncoder()
            rows.append(
              (
                key.description, before.map { RowText.text($0, encoder) },
                after.map { RowText.text($0, encoder) }
              ))
          }
          table.notes.removeAll()
        }
        return rows
      },
      row: { state, key in
        Key(key).flatMap { get(state).rows[$0] }.map { RowText.text($0, JSONEncoder()) }
      },
      fault: { key, text in
        guard Key(key) != nil else { return "'\(key)' is no key" }
        guard let text, (RowReader.row(text) as Row?) == nil else { return nil }
        return "the row '\(key)' cannot be read"
      },
      restore: { state, key, text in
        guard let key = Key(key) else { return }
        let row: Row? = text.flatMap { RowReader.row($0) }
        guard row != nil || text == nil else { return }
        access(&state) { $0[key] = row }
      },
      shown: { key, text in
        guard let form else { return text }
        guard let key = Key(key), let row: Row = RowReader.row(text) else { return nil }
        return RowText.text(row, of: key, in: form, JSONEncoder())
      },
      isSame: { RowReader.isSame($0, $1, Row.self) })
  }

  @usableFromInline
  static func single<Row: TableRow>(
    get: @escaping @Sendable (State) -> Single<Row>,
    access: @escaping @Sendable (inout State, (inout Single<Row>) -> Void) -> Void
  ) -> StoredRows {
    StoredRows(
      written: { get($0).notes.fresh.isEmpty ? [] : [""] },
      pop: { state, isWanted in
        var rows: [(String, JSONText?, JSONText?)] = []
        access(&state) { single in
          single.finishEvent(at: 0) { before, after in
            guard isWanted("") else { return }
            let encoder = JSONEncoder()
            rows.append(("", RowText.text(before, encoder), RowText.text(after, encoder)))
          }
          single.notes.removeAll()
        }
        return rows
      },
      row: { state, _ in RowText.text(get(state).row, JSONEncoder()) },
      fault: { _, text in
        (RowReader.row(text ?? .null) as Row?) == nil ? "the value cannot be read" : nil
      },
      restore: { state, _, text in
        guard let row: Row = RowReader.row(text ?? .null) else { return }
        access(&state) { $0.value = row }
      },
      shown: { _, text in text }, isSame: { RowReader.isSame($0, $1, Row.self) })
  }

  @usableFromInline
  static func lists<Key: TableKey, Element: TableRow>(
    _ form: ShownForm<Key, Element>?,
    get: @escaping @Sendable (State) -> ListTable<Key, Element>,
    access: @escaping @Sendable (inout State, (inout ListTable<Key, Element>) -> Void) -> Void
  ) -> StoredRows {
    @Sendable func text(_ list: [Element]?) -> JSONText? {
      let encoder = JSONEncoder()
      return list.map { JSONText(elements: $0.map { RowText.text($0, encoder) }) }
    }
    @Sendable func elements(_ text: JSONText) -> [Element]? {
      guard case .array(let elements) = text.value else { return nil }
      let read: [Element] = elements.compactMap { RowReader.row($0.text) }
      return read.count == elements.count ? read : nil
    }
    return StoredRows(
      written: { get($0).notes.fresh.map(\.key.description) },
      pop: { state, isWanted in
        var rows: [(String, JSONText?, JSONText?)] = []
        access(&state) { lists in
          var keys: Set<Key> = []
          lists.finishEvent(at: 0) { key, _ in
            if isWanted(key.description) { keys.insert(key) }
          }
          let after = keys.map { ($0, lists.lists[$0]) }
          if !keys.isEmpty { lists.revertEvent(at: 0) }
          for (key, list) in after {
            rows.append((key.description, text(lists.lists[key]), text(list)))
          }
          lists.notes.removeAll()
          for (key, list) in after { lists.lists[key] = list }
        }
        return rows
      },
      row: { state, key in Key(key).flatMap { text(get(state).lists[$0]) } },
      fault: { key, text in
        guard Key(key) != nil else { return "'\(key)' is no key" }
        guard let text, elements(text) == nil else { return nil }
        return "the list '\(key)' cannot be read"
      },
      restore: { state, key, text in
        guard let key = Key(key), let list = text.map(elements) ?? [] else { return }
        access(&state) { $0[key] = list }
      },
      shown: { key, text in
        guard let form else { return text }
        guard let key = Key(key), let list = elements(text) else { return nil }
        let encoder = JSONEncoder()
        return JSONText(elements: list.map { RowText.text($0, of: key, in: form, encoder) })
      },
      isSame: { RowReader.isSame($0, $1, [Element].self) })
  }
}
