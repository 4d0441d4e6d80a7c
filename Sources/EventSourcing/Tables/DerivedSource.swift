package import JSON
internal import Model

/// A row or a list that an event has written.
@usableFromInline
package struct WrittenRow {
  /// Whether the event has added a row to a table; `false` for lists and single values.
  let isNew: Bool

  /// Whether the event has removed a row from a table; `false` for lists and single values.
  let isGone: Bool

  /// Returns the name that a pattern makes of its key.
  let name: (SourcePattern) -> String

  @usableFromInline
  init(isNew: Bool = false, isGone: Bool = false, name: @escaping (SourcePattern) -> String) {
    (self.isNew, self.isGone, self.name) = (isNew, isGone, name)
  }
}

extension TableSource {
  /// Returns sources that are computed from tables; their numbers go into ``bases``.
  ///
  /// The tables report what has changed. A value is computed when it is read, and, around an event
  /// that writes its tables, while it is watched.
  ///
  /// - Parameters:
  ///   - matches: Whether a name is one of a source, with or without a value.
  ///   - has: Whether a source has a value; cheap.
  ///   - forEachName: Calls a function with the names of the sources that have a value.
  ///   - value: Returns the value of a source; `nil` if it has none.
  package static func derived(
    _ pattern: SourcePattern, _ doc: String, _ shape: Shape, hasKey: Bool,
    matches: @escaping @Sendable (String) -> Bool,
    has: @escaping @Sendable (State, String) -> Bool,
    forEachName: @escaping @Sendable (State, (String) -> Void) -> Void,
    value: @escaping @Sendable (State, String) -> JSONText?
  ) -> TableSource {
    TableSource(
      pattern: pattern, streams: nil, doc: doc, shape: shape, kind: .state, path: nil,
      hasKey: hasKey, matches: matches,
      setNoting: { _, _ in }, makeUnique: { _ in }, finish: { _, _, _ in }, revert: { _, _ in },
      show: { _, _, _, _, _ in }, popChanges: { _, _ in [] }, value: value,
      collection: { _, _ in nil }, has: has, forEachName: forEachName,
      holds: { _, _ in false }, size: { _, _ in 0 }, sizeOfAll: { _, _ in 0 },
      isEmpty: { _ in true })
  }
}

/// A derived source around an event that may change it.
@usableFromInline
package struct DerivedChange {
  /// The number of the source in ``TableList/sources``.
  let number: Int
  let source: String
  let wasThere: Bool

  /// The value before the event; `nil` if there was none, or nobody watches the source.
  let before: JSONText?
  let isWatched: Bool
}

extension TableList {
  /// Calls a function for each derived source whose tables the event at a position has written, once
  /// or several times.
  ///
  /// - Parameters:
  ///   - count: The most tables of each source to look at. The first one decides which sources there
  ///     are.
  ///   - body: Gets the number of the source, its name, and the row.
  private func forEachDerived(
    in state: State, at seq: UInt64, tables count: Int = .max,
    _ body: (_ number: Int, _ name: () -> String, _ row: WrittenRow) -> Void
  ) {
    for number in derived {
      guard let pattern = sources[number].pattern else { continue }
      let hasKey = sources[number].hasKey
      for base in sources[number].bases.prefix(count) {
        sources[base].forEachWritten(state, seq) { row in
          body(number, { hasKey ? row.name(pattern) : pattern.text }, row)
        }
      }
    }
  }

  /// Lets the running command fail if a new row makes no valid names of derived sources.
  @usableFromInline
  func checkDerivedNames(_ pending: State, at seq: UInt64, _ report: TableReport) {
    forEachDerived(in: pending, at: seq, tables: 1) { number, name, row in
      // An event may also remove a row that is not there.
      if row.isNew, !row.isGone, sources[number].hasKey { report.check(name()) }
    }
  }

  /// Returns the derived sources that the oldest event may change, before it is shown.
  ///
  /// Sources that nobody watches are among them only if their existence may change.
  @usableFromInline
  func beginDerived(
    _ pending: State, _ committed: State, at seq: UInt64, _ report: TableReport
  ) -> [DerivedChange] {
    var changes: [DerivedChange] = []
    var seen: Set<String> = []
    forEachDerived(in: pending, at: seq, tables: report.isAnyWatched ? .max : 1) {
      number, name, row in
      guard report.isAnyWatched || row.isNew || row.isGone else { return }
      let name = name()
      guard seen.insert(name).inserted else { return }
      let isWatched = report.isWatched(name)
      changes.append(
        DerivedChange(
          number: number, source: name, wasThere: sources[number].has(committed, name),
          before: isWatched ? sources[number].value(committed, name) : nil, isWatched: isWatched))
    }
    return changes
  }

  /// Reports the changes of derived sources, after the event was shown.
  @usableFromInline
  func endDerived(
    _ changes: [DerivedChange], _ committed: State, at seq: UInt64, _ report: TableReport
  ) {
    for change in changes {
      let isThere = sources[change.number].has(committed, change.source)
      if isThere != change.wasThere { report.updateName(change.source, isThere: isThere) }
      guard change.isWatched else { continue }
      let value = isThere ? sources[change.number].value(committed, change.source) : nil
      if value != change.before {
        report.add(
          SourceChange(source: change.source, seq: seq, value: value, before: change.before))
      }
    }
  }

  /// Returns the wanted derived sources that the event which was just applied may change.
  ///
  /// The known values of the others are no longer true.
  private func changedDerived(
    in state: State, _ known: DerivedValues, _ isWanted: (String) -> Bool
  ) -> [(number: Int, source: String)] {
    var changed: [(number: Int, source: String)] = []
    var seen: Set<String> = []
    forEachDerived(in: state, at: 0) { number, name, _ in
      let name = name()
      guard seen.insert(name).inserted else { return }
      if isWanted(name) { changed.append((number, name)) } else { known.values[name] = nil }
    }
    return changed
  }

  /// Applies an event to a state of its own, and returns the changes of its sources.
  ///
  /// - Parameters:
  ///   - known: The values of derived sources in the state.
  ///   - isWanted: Whether changes of a derived source are wanted; others are not computed. Called once
  ///     for each source whose tables the event writes.
  ///   - apply: Applies the event.
  func changes(
    of state: inout State, at seq: UInt64, _ known: DerivedValues, where isWanted: (String) -> Bool,
    _ apply: (inout State) -> Void
  ) -> [SourceChange] {
    startNoting(in: &state)
    apply(&state)
    let derived = derived.isEmpty ? [] : changedDerived(in: state, known, isWanted)
    guard !derived.isEmpty else { return popChanges(of: &state, at: seq) }
    if derived.contains(where: { known.values[$0.source] == nil }) {
      // The values before the event are those of the state without it.
      for source in sources { source.revert(&state, 0) }
      for (number, source) in derived where known.values[source] == nil {
        known.values.updateValue(sources[number].value(state, source), forKey: source)
      }
      apply(&state)
    }
    var changes = popChanges(of: &state, at: seq)
    for (number, source) in derived {
      let value = sources[number].value(state, source)
      let before = known.values.updateValue(value, forKey: source) ?? nil
      if value != before {
        changes.append(SourceChange(source: source, seq: seq, value: value, before: before))
      }
    }
    known.trim()
    return changes
  }
}

extension TableReport {
  /// Lets the running command fail if a name is not one of a source.
  func check(_ name: String) {
    if let rule = SourceName.fault(in: name) { refuse(name, rule) }
  }
}
