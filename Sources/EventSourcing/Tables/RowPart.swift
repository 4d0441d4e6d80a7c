public import JSON
public import Model

/// A part of each row of a table, which clients see as a source of its own: `people/*/name`.
@usableFromInline
package struct RowPart<Row: TableRow>: Sendable {
  /// The names of the sources; the `*` is the key of the row.
  @usableFromInline
  let pattern: SourcePattern
  let doc: String
  let shape: Shape

  /// Returns the part of a row as JSON.
  @usableFromInline
  let text: @Sendable (Row) -> JSONText

  @usableFromInline
  package init<Part: TableRow>(
    _ name: String, _ doc: String, _ part: @escaping @Sendable (Row) -> Part
  ) {
    (pattern, self.doc, shape) = (SourcePattern(name), doc, Shape(of: Part.self))
    text = { row in (try? JSONEncoder().text(part(row))) ?? .null }
  }
}

extension TableSource {
  /// Returns the sources of a part of each row.
  ///
  /// The table itself reports the changes, because only it has the notes; see
  /// ``rows(_:_:path:parts:get:access:)``.
  @usableFromInline
  package static func part<Key: TableKey, Row: TableRow>(
    _ part: RowPart<Row>, get: @escaping @Sendable (State) -> Table<Key, Row>
  ) -> TableSource {
    let pattern = part.pattern
    @Sendable func row(_ state: State, _ name: String) -> Row? {
      guard let key: Key = pattern.key(of: name) else { return nil }
      return get(state).rows[key]
    }
    return TableSource(
      pattern: pattern, streams: nil, doc: part.doc, shape: part.shape, kind: .state, path: nil,
      hasKey: true,
      matches: { (pattern.key(of: $0) as Key?) != nil },
      setNoting: { _, _ in }, makeUnique: { _ in }, finish: { _, _, _ in }, revert: { _, _ in },
      show: { _, _, _, _, _ in }, popChanges: { _, _ in [] },
      value: { state, name in row(state, name).map(part.text) },
      collection: { _, _ in nil },
      has: { row($0, $1) != nil },
      forEachName: { state, body in for key in get(state).rows.keys { body(pattern.name(key)) } },
      holds: { _, _ in false }, size: { _, _ in 0 }, sizeOfAll: { _, _ in 0 },
      isEmpty: { _ in true })
  }
}

extension RowPart {
  /// Returns the change of the part of a row; `nil` if it stays as it is.
  @usableFromInline
  func change(
    of source: String, at seq: UInt64, _ before: Row?, _ after: Row?
  ) -> SourceChange? {
    let (old, new) = (before.map(text), after.map(text))
    return old == new ? nil : SourceChange(source: source, seq: seq, value: new, before: old)
  }
}

extension TableReport {
  /// Lets the running command fail if the parts of a new row make no valid names.
  @usableFromInline
  func checkNames<Key: TableKey, Row>(of parts: [RowPart<Row>], _ key: Key) {
    for part in parts {
      setName(part.pattern, key)
      if let rule = SourceName.fault(in: name.string) { refuseName(rule) }
    }
  }

  /// Adds the changes of the parts of a row.
  @usableFromInline
  func add<Key: TableKey, Row>(
    _ parts: [RowPart<Row>], of key: Key, at seq: UInt64, _ before: Row?, _ after: Row?
  ) {
    for part in parts {
      setName(part.pattern, key)
      if (before == nil) != (after == nil) { updateName(isThere: after != nil) }
      guard let source = watchedName else { continue }
      if let change = part.change(of: source, at: seq, before, after) { add(change) }
    }
  }
}
