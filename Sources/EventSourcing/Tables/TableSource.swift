public import JSON
public import Model

/// A table of a state: the names of its sources, and how the engine reaches it.
///
/// Consists of closures instead of a protocol, so that they are specialized where the types of the
/// rows are known.
@usableFromInline
package struct TableSource<State>: Sendable {
  /// The names of the sources; `nil` if clients do not see the table.
  @usableFromInline
  package let pattern: SourcePattern?

  /// The names of the streams in which events of the rows are recorded, and which are charged for the
  /// rows; those of the sources, unless the rows belong to rows of another table.
  @usableFromInline
  package let streams: SourcePattern?

  /// A sentence about the sources, for `describe`.
  package let doc: String

  /// The type of a value.
  package let shape: Shape

  /// The kind of the sources: plain values or lists.
  package let kind: SourceKind

  /// The key path to the table; `nil` if it has none.
  package let path: (any PartialKeyPath<State> & Sendable)?

  /// Whether the names of the sources have a key.
  package let hasKey: Bool

  /// The numbers of the tables from which the sources are computed, the one with their rows first;
  /// none if the rows are stored.
  package var bases: [Int] = []

  /// Whether a name is one of a source, with or without a value.
  package let matches: @Sendable (_ name: String) -> Bool

  /// Turns notes on, with the number of the table, or off.
  let setNoting: @Sendable (inout State, Int?) -> Void
  let makeUnique: @Sendable (inout State) -> Void

  // The pending state.
  @usableFromInline
  let finish: @Sendable (inout State, UInt64, TableReport) -> Void
  let revert: @Sendable (inout State, UInt64) -> Void

  /// Moves what the oldest event has written from the pending state into the committed one.
  @usableFromInline
  let show: @Sendable (inout State, inout State, UInt64, _ table: Int, TableReport) -> Void

  /// Ends an event in a state of its own, and returns its changes.
  let popChanges: @Sendable (inout State, UInt64) -> [SourceChange]

  /// Calls a function for each row or list that the event at a position has written.
  let forEachWritten: @Sendable (State, UInt64, (WrittenRow) -> Void) -> Void

  // Any state.
  let value: @Sendable (State, _ name: String) -> JSONText?
  let collection: @Sendable (State, _ name: String) -> SourceCollection?
  let has: @Sendable (State, _ name: String) -> Bool
  let forEachName: @Sendable (State, (String) -> Void) -> Void

  /// Returns whether there are rows whose stream has a name.
  let holds: @Sendable (State, _ stream: String) -> Bool

  /// Returns the bytes of the rows whose stream has a name.
  let size: @Sendable (State, _ name: String) -> Int

  /// Returns the bytes of all rows, except of those whose stream has a name that meets a condition.
  let sizeOfAll: @Sendable (State, _ isExcluded: (String) -> Bool) -> Int
  let isEmpty: @Sendable (State) -> Bool

  /// The stored rows; `nil` for sources that are computed.
  let stored: StoredRows<State>?

  /// Gives access to a table in a state.
  @usableFromInline
  package typealias Access<Table> =
    @Sendable (inout State, (inout Table) -> Void) -> Void

  /// Returns how to reach a stored property.
  @inlinable
  static func access<Table>(_ path: any WritableKeyPath<State, Table> & Sendable) -> Access<Table> {
    // A write through a key path costs several times as much.
    guard let offset = MemoryLayout<State>.offset(of: path) else {
      return { state, body in body(&state[keyPath: path]) }
    }
    return { state, body in
      unsafe withUnsafeMutableBytes(of: &state) { bytes in
        unsafe body(
          &(bytes.baseAddress.unsafelyUnwrapped + offset)
            .assumingMemoryBound(to: Table.self).pointee)
      }
    }
  }

  // MARK: Rows

  /// Shows each row of a table as a source.
  ///
  /// - Parameters:
  ///   - name: The names of the sources, with a `*` for the key; `nil` for a table that clients do
  ///     not see.
  ///   - parts: The parts of rows that are sources too; each needs a ``part(_:get:)`` in the list.
  @inlinable
  package static func rows<Key: TableKey, Row: TableRow>(
    _ path: any WritableKeyPath<State, Table<Key, Row>> & Sendable, _ name: String?,
    _ doc: String = "", parts: [RowPart<Row>] = []
  ) -> TableSource {
    rows(name, doc, path: path, parts: parts, get: { $0[keyPath: path] }, access: access(path))
  }

  /// Shows each row of a table as a source, where a key path does not reach the table.
  ///
  /// - Parameters:
  ///   - streams: The names of the streams, if they are not those of the sources.
  ///   - form: The form that clients see; `nil` for the stored one.
  @inlinable
  package static func rows<Key: TableKey, Row: TableRow>(
    _ name: String?, _ doc: String, path: (any PartialKeyPath<State> & Sendable)? = nil,
    in streams: String? = nil, form: ShownForm<Key, Row>? = nil, parts: [RowPart<Row>] = [],
    get: @escaping @Sendable (State) -> Table<Key, Row>,
    access: @escaping Access<Table<Key, Row>>
  ) -> TableSource {
    let pattern = name.map(SourcePattern.init)
    let streams = streams.map(SourcePattern.init) ?? pattern
    return TableSource(
      pattern: pattern, streams: streams, doc: doc, shape: form?.shape ?? Shape(of: Row.self),
      kind: .state,
      path: path, hasKey: true,
      matches: { [pattern] name in
        guard let key: Key = pattern?.key(of: name) else { return false }
        return form?.isKey(key) ?? true
      },
      setNoting: { state, number in access(&state) { $0.setNoting(as: number) } },
      makeUnique: { state in access(&state) { $0.makeUnique() } },
      finish: finishRows(pattern, streams, parts, access),
      revert: { state, seq in access(&state) { $0.revertEvent(at: seq) } },
      show: showRows(pattern, form, parts, access),
      popChanges: { [pattern] state, seq in
        var changes: [SourceChange] = []
        access(&state) { table in
          table.finishEvent(at: seq) { key, before, after in
            guard let pattern, before != nil || after != nil else { return }
            let encoder = JSONEncoder()
            let old = before.map { RowText.text($0, of: key, in: form, encoder) }
            let new = after.map { RowText.text($0, of: key, in: form, encoder) }
            if form == nil || old != new {
              changes.append(SourceChange(source: pattern.name(key), seq: seq, value: new))
            }
            changes += parts.compactMap {
              $0.change(of: $0.pattern.name(key), at: seq, before, after)
            }
          }
          table.notes.removeAll()
        }
        return changes
      },
      forEachWritten: { state, seq, body in
        get(state).notes.forEach(at: seq) { note in
          body(
            WrittenRow(
              isNew: note.before == nil, isGone: note.after == nil, name: { $0.name(note.key) }))
        }
      },
      value: { [pattern] state, name in
        guard let key: Key = pattern?.key(of: name) else { return nil }
        return get(state).rows[key].map { RowText.text($0, of: key, in: form, JSONEncoder()) }
      },
      collection: { _, _ in nil },
      has: { [pattern] state, name in
        guard let key: Key = pattern?.key(of: name) else { return false }
        return get(state).rows[key] != nil
      },
      forEachName: { [pattern] state, body in
        guard let pattern else { return }
        for key in get(state).rows.keys { body(pattern.name(key)) }
      },
      holds: { [streams] state, name in
        guard let key: Key = streams?.key(of: name) else { return false }
        return get(state).rows[key] != nil
      },
      size: { [streams] state, name in
        guard let key: Key = streams?.key(of: name) else { return 0 }
        return RowText.size(get(state).rows[key], JSONEncoder())
      },
      sizeOfAll: { [streams] state, isExcluded in
        let encoder = JSONEncoder()
        return get(state).rows.reduce(0) { sum, row in
          if let streams, isExcluded(streams.name(row.key)) { return sum }
          return sum + RowText.size(row.value, encoder)
        }
      },
      isEmpty: { get($0).rows.isEmpty }, stored: .rows(form, get: get, access: access))
  }

  /// Returns a function that ends an event of the pending state.
  @inlinable
  static func finishRows<Key: TableKey, Row: TableRow>(
    _ pattern: SourcePattern?, _ streams: SourcePattern?, _ parts: [RowPart<Row>],
    _ access: @escaping Access<Table<Key, Row>>
  ) -> @Sendable (inout State, UInt64, TableReport) -> Void {
    { state, seq, report in
      access(&state) { table in
        guard report.checkIsNoted(table.notes) else { return }
        guard !table.notes.fresh.isEmpty else { return }
        table.finishEvent(at: seq) { key, before, after in
          let former = RowText.size(before, report.encoder)
          let growth = report.size(after) - former
          guard let streams else { return report.chargeService(growth) }
          // There is nothing to charge, and the name was checked before.
          if growth == 0, before != nil { return }
          report.setName(streams, key)
          report.charge(growth)
          if report.isNew { report.adoptRow(former) }
          if before == nil {
            report.checkName(streams, key)
            if !parts.isEmpty { report.checkNames(of: parts, key) }
          }
        }
      }
    }
  }

  /// Returns a function that moves the rows of the oldest event into the committed state.
  @inlinable
  static func showRows<Key: TableKey, Row: TableRow>(
    _ pattern: SourcePattern?, _ form: ShownForm<Key, Row>?, _ parts: [RowPart<Row>],
    _ access: @escaping Access<Table<Key, Row>>
  ) -> @Sendable (inout State, inout State, UInt64, Int, TableReport) -> Void {
    { pending, committed, seq, number, report in
      access(&pending) { pending in
        guard !pending.notes.isEmpty else { return }
        access(&committed) { committed in
          let rows = report.observedRows(number)
          pending.showEvent(at: seq, in: &committed) { key, before, after in
            let isOther = (before == nil) != (after == nil)
            if let pattern, isOther || report.isAnyWatched || !parts.isEmpty {
              report.setName(pattern, key)
              if isOther { report.updateName(isThere: after != nil) }
              if before != nil || after != nil, let source = report.watchedName {
                let old = before.map { RowText.text($0, of: key, in: form, report.encoder) }
                let new = after.map { RowText.text($0, of: key, in: form, report.encoder) }
                if form == nil || old != new {
                  report.add(SourceChange(source: source, seq: seq, value: new, before: old))
                }
              }
              if !parts.isEmpty { report.add(parts, of: key, at: seq, before, after) }
            }
            if let rows {
              unsafe unsafeDowncast(rows, to: KeyChanges<Key>.self).keys.append(key)
              report.add(rows)
            }
          }
        }
      }
    }
  }

  @usableFromInline
  init(
    pattern: SourcePattern?, streams: SourcePattern?, doc: String, shape: Shape, kind: SourceKind,
    path: (any PartialKeyPath<State> & Sendable)?, hasKey: Bool,
    matches: @escaping @Sendable (String) -> Bool,
    setNoting: @escaping @Sendable (inout State, Int?) -> Void,
    makeUnique: @escaping @Sendable (inout State) -> Void,
    finish: @escaping @Sendable (inout State, UInt64, TableReport) -> Void,
    revert: @escaping @Sendable (inout State, UInt64) -> Void,
    show: @escaping @Sendable (inout State, inout State, UInt64, Int, TableReport) -> Void,
    popChanges: @escaping @Sendable (inout State, UInt64) -> [SourceChange],
    forEachWritten: @escaping @Sendable (State, UInt64, (WrittenRow) -> Void) -> Void = {
      _, _, _ in
    },
    value: @escaping @Sendable (State, String) -> JSONText?,
    collection: @escaping @Sendable (State, String) -> SourceCollection?,
    has: @escaping @Sendable (State, String) -> Bool,
    forEachName: @escaping @Sendable (State, (String) -> Void) -> Void,
    holds: @escaping @Sendable (State, String) -> Bool,
    size: @escaping @Sendable (State, String) -> Int,
    sizeOfAll: @escaping @Sendable (State, (String) -> Bool) -> Int,
    isEmpty: @escaping @Sendable (State) -> Bool, stored: StoredRows<State>? = nil
  ) {
    self.pattern = pattern
    self.streams = streams
    self.doc = doc
    self.shape = shape
    self.kind = kind
    self.path = path
    self.hasKey = hasKey
    self.matches = matches
    self.setNoting = setNoting
    self.makeUnique = makeUnique
    self.finish = finish
    self.revert = revert
    self.show = show
    self.popChanges = popChanges
    self.forEachWritten = forEachWritten
    self.value = value
    self.collection = collection
    self.has = has
    self.forEachName = forEachName
    self.holds = holds
    self.size = size
    self.sizeOfAll = sizeOfAll
    self.isEmpty = isEmpty
    self.stored = stored
  }
}

extension TableSource {
  // MARK: One value

  /// Shows a value without a key as a source.
  ///
  /// - Parameter name: The name of the source; `nil` for a value that clients do not see.
  @inlinable
  package static func single<Row: TableRow>(
    _ path: any WritableKeyPath<State, Single<Row>> & Sendable, _ name: String?, _ doc: String = ""
  ) -> TableSource {
    single(name, doc, path: path, get: { $0[keyPath: path] }, access: access(path))
  }

  /// Shows a value without a key as a source, where a key path does not reach it.
  @inlinable
  package static func single<Row: TableRow>(
    _ name: String?, _ doc: String, path: (any PartialKeyPath<State> & Sendable)? = nil,
    get: @escaping @Sendable (State) -> Single<Row>,
    access: @escaping Access<Single<Row>>
  ) -> TableSource {
    let pattern = name.map(SourcePattern.init)
    return TableSource(
      pattern: pattern, streams: pattern, doc: doc, shape: Shape(of: Row.self), kind: .state,
      path: path, hasKey: false,
      matches: { $0 == pattern?.text },
      setNoting: { state, number in access(&state) { $0.setNoting(as: number) } },
      makeUnique: { _ in },
      finish: { state, seq, report in
        access(&state) { single in
          guard report.checkIsNoted(single.notes) else { return }
          single.finishEvent(at: seq) { before, after in
            let former = RowText.size(before, report.encoder)
            let growth = report.size(after) - former
            guard let pattern else { return report.chargeService(growth) }
            report.setName(pattern)
            report.charge(growth)
            if report.isNew { report.adoptRow(former) }
          }
        }
      },
      revert: { state, seq in access(&state) { $0.revertEvent(at: seq) } },
      show: { pending, committed, seq, _, report in
        access(&pending) { pending in
          guard !pending.notes.isEmpty else { return }
          access(&committed) { committed in
            pending.showEvent(at: seq, in: &committed) { before, after in
              guard let pattern else { return }
              report.setName(pattern)
              guard let source = report.watchedName else { return }
              report.add(
                SourceChange(
                  source: source, seq: seq, value: RowText.text(after, report.encoder),
                  before: RowText.text(before, report.encoder)))
            }
          }
        }
      },
      popChanges: { state, seq in
        var changes: [SourceChange] = []
        access(&state) { single in
          single.finishEvent(at: seq) { _, after in
            guard let pattern else { return }
            changes.append(
              SourceChange(
                source: pattern.text, seq: seq, value: RowText.text(after, JSONEncoder())))
          }
          single.notes.removeAll()
        }
        return changes
      },
      forEachWritten: { state, seq, body in
        get(state).notes.forEach(at: seq) { _ in body(WrittenRow { $0.text }) }
      },
      value: { state, name in
        name == pattern?.text ? RowText.text(get(state).row, JSONEncoder()) : nil
      },
      collection: { _, _ in nil },
      has: { _, name in name == pattern?.text },
      forEachName: { _, body in if let pattern { body(pattern.text) } },
      holds: { _, name in name == pattern?.text },
      size: { state, name in
        name == pattern?.text ? RowText.size(get(state).row, JSONEncoder()) : 0
      },
      sizeOfAll: { state, isExcluded in
        if let pattern, isExcluded(pattern.text) { return 0 }
        return RowText.size(get(state).row, JSONEncoder())
      },
      isEmpty: { _ in false }, stored: .single(get: get, access: access))
  }

  // MARK: Lists

  /// Shows each list of a table as a source whose watchers get steps.
  ///
  /// - Parameter name: The names of the sources, with a `*` for the key; `nil` for lists that
  ///   clients do not see.
  @inlinable
  package static func lists<Key: TableKey, Element: TableRow>(
    _ path: any WritableKeyPath<State, ListTable<Key, Element>> & Sendable, _ name: String?,
    _ doc: String = ""
  ) -> TableSource {
    lists(name, doc, path: path, get: { $0[keyPath: path] }, access: access(path))
  }

  /// Shows each list of a table as a source, where a key path does not reach the table.
  ///
  /// - Parameters:
  ///   - streams: The names of the streams, if they are not those of the sources.
  ///   - form: The form that clients see; `nil` for the stored one.
  ///   - isMerging: Whether the step of a changed element has only its changed members.
  @usableFromInline
  package static func lists<Key: TableKey, Element: TableRow>(
    _ name: String?, _ doc: String, path: (any PartialKeyPath<State> & Sendable)? = nil,
    in streams: String? = nil, form: ShownForm<Key, Element>? = nil, isMerging: Bool = false,
    get: @escaping @Sendable (State) -> ListTable<Key, Element>,
    access: @escaping Access<ListTable<Key, Element>>
  ) -> TableSource {
    let pattern = name.map(SourcePattern.init)
    let streams = streams.map(SourcePattern.init) ?? pattern
    @Sendable func list(_ state: State, _ name: String, _ pattern: SourcePattern?) -> [Element]? {
      guard let key: Key = pattern?.key(of: name) else { return nil }
      return get(state).lists[key]
    }
    @Sendable func texts(_ state: State, _ name: String) -> [JSONText]? {
      guard let key: Key = pattern?.key(of: name), let list = get(state).lists[key] else {
        return nil
      }
      let encoder = JSONEncoder()
      return list.map { RowText.text($0, of: key, in: form, encoder) }
    }
    @Sendable func size(_ elements: [Element]) -> Int {
      let encoder = JSONEncoder()
      return elements.reduce(0) { $0 + RowText.size($1, encoder) }
    }
    return TableSource(
      pattern: pattern, streams: streams, doc: doc,
      shape: .array(form?.shape ?? Shape(of: Element.self)),
      kind: .list, path: path, hasKey: true,
      matches: { name in
        guard let key: Key = pattern?.key(of: name) else { return false }
        return form?.isKey(key) ?? true
      },
      setNoting: { state, number in access(&state) { $0.setNoting(as: number) } },
      makeUnique: { state in access(&state) { $0.makeUnique() } },
      finish: finishLists(pattern, streams, access),
      revert: { state, seq in access(&state) { $0.revertEvent(at: seq) } },
      show: showLists(pattern, form, isMerging: isMerging, access),
      popChanges: { state, seq in
        var changes: [SourceChange] = []
        access(&state) { lists in
          lists.finishEvent(at: seq) { key, step in
            guard let pattern,
              let change = step.change(
                isMerging: isMerging, { RowText.text($0, of: key, in: form, JSONEncoder()) })
            else { return }
            changes.append(SourceChange(source: pattern.name(key), seq: seq, step: change))
          }
          lists.notes.removeAll()
        }
        return changes
      },
      forEachWritten: { state, seq, body in
        get(state).notes.forEach(at: seq) { note in body(WrittenRow { $0.name(note.key) }) }
      },
      value: { state, name in texts(state, name).map { JSONText(elements: $0) } },
      collection: { state, name in
        guard (pattern?.key(of: name) as Key?) != nil else { return nil }
        return .list(LongArray(texts(state, name) ?? []))
      },
      has: { list($0, $1, pattern) != nil },
      forEachName: { state, body in
        guard let pattern else { return }
        for key in get(state).lists.keys { body(pattern.name(key)) }
      },
      holds: { list($0, $1, streams) != nil },
      size: { state, name in list(state, name, streams).map(size) ?? 0 },
      sizeOfAll: { state, isExcluded in
        get(state).lists.reduce(0) { sum, list in
          if let streams, isExcluded(streams.name(list.key)) { return sum }
          return sum + size(list.value)
        }
      },
      isEmpty: { get($0).lists.isEmpty }, stored: .lists(form, get: get, access: access))
  }

  /// Returns a function that ends an event of the pending state.
  private static func finishLists<Key: TableKey, Element: TableRow>(
    _ pattern: SourcePattern?, _ streams: SourcePattern?,
    _ access: @escaping Access<ListTable<Key, Element>>
  ) -> @Sendable (inout State, UInt64, TableReport) -> Void {
    let isOther = streams != pattern
    return { state, seq, report in
      access(&state) { lists in
        guard report.checkIsNoted(lists.notes) else { return }
        lists.finishEvent(at: seq) { key, step in
          let growth = step.growth(before: { RowText.size($0, report.encoder) }) {
            report.size($0)
          }
          guard let streams else { return report.chargeService(growth) }
          report.setName(streams, key)
          report.charge(growth)
          guard let pattern else { return }
          if isOther { report.setName(pattern, key) }
          report.checkName(pattern, key)
        }
      }
    }
  }

  /// Returns a function that applies the steps of the oldest event to the committed state.
  private static func showLists<Key: TableKey, Element: TableRow>(
    _ pattern: SourcePattern?, _ form: ShownForm<Key, Element>?, isMerging: Bool,
    _ access: @escaping Access<ListTable<Key, Element>>
  ) -> @Sendable (inout State, inout State, UInt64, Int, TableReport) -> Void {
    { pending, committed, seq, _, report in
      access(&pending) { pending in
        guard !pending.notes.isEmpty else { return }
        access(&committed) { committed in
          pending.showEvent(at: seq, in: &committed) { key, step, wasThere, isThere in
            guard let pattern else { return }
            report.setName(pattern, key)
            if wasThere != isThere { report.updateName(isThere: isThere) }
            guard let source = report.watchedName,
              let change = step.change(
                isMerging: isMerging, { RowText.text($0, of: key, in: form, report.encoder) })
            else { return }
            report.add(
              SourceChange(
                source: source, seq: seq, step: change, isNew: !wasThere, isGone: !isThere))
          }
        }
      }
    }
  }
}
