package import EventSourcing
package import JSON
package import Model

/// An event of a service in a script; its data is as the script has recorded it.
package struct ScriptEvent: ServiceEvent, Equatable {
  package let kind: String
  package let data: JSONText

  /// Whether it is an event of another service, whose type is its kind.
  let isOther: Bool

  /// None: which kinds there are depends on the script.
  package static var kinds: Set<String> { [] }

  package init(_ kind: String, _ data: JSONText) {
    (self.kind, self.data, isOther) = (kind, data, kind.isKindOfOther)
  }

  package init?(kind: String, data: JSONText, _ coder: EventCoder) { self.init(kind, data) }

  package func write(to data: inout ByteBuffer, _ coder: EventCoder) -> String {
    data.append(self.data.text)
    return kind
  }
}

extension String {
  /// Whether it is a kind of events of another service: `cells.set`, or `cells.set cells/door`.
  package var isKindOfOther: Bool {
    let bytes = utf8.span
    for i in bytes.indices where bytes[i] == UInt8(ascii: ".") { return true }
    return false
  }
}

/// A fold that has failed, so that its service stops.
package struct StoppedFold: Equatable, Sendable {
  package let seq: UInt64
  package let kind: String
  package let failure: ScriptFailure

  /// Returns the type of its event.
  func type(of service: String) -> String {
    kind.isKindOfOther ? kind : "\(service).\(kind)"
  }
}

/// The tables of a service in a script.
///
/// Rows are JSON; none of the state is in the interpreter.
package struct ScriptState: TableState {
  package typealias Lookup = TableLookup<ScriptState>

  package internal(set) var script: Script
  var rows: [Table<String, JSONText>]
  var singles: [Single<JSONText>]

  /// The interpreter of the folds.
  ///
  /// Made by the first event, so that a state that begins on another thread has its own.
  var interpreter: (any ScriptInterpreter)?

  /// Whether its folds are watched, for a trial.
  var isWatched = false

  /// The fold that has failed; later events are not applied.
  package var stopped: StoppedFold?

  /// Whether it has stopped with an event that was applied live; see ``ScriptService/popStop()``.
  var hasStopped = false

  /// The kinds of events that the script has skipped, because it has no function for them.
  package internal(set) var skipped: Set<String> = []

  package init(_ script: Script) {
    self.script = script
    rows = Array(repeating: Table(), count: script.rowCount)
    singles = Array(repeating: Single(.null), count: script.singleCount)
  }

  /// The state of no script.
  package init() { self.init(.none) }

  // Inlined, so that a state of a ledger is not copied for it.
  @inline(__always)
  package var tables: TableList<ScriptState> { script.tables }

  /// The number of events that were applied, for a trial.
  package private(set) var appliedCount = 0

  /// The last event that was applied.
  private var (lastSeq, lastKind): (UInt64, String) = (0, "")

  /// Whether it applies nothing yet, because the past is folded first.
  var isWaiting = false

  package var otherTypes: Set<String> { Set(script.others.keys) }

  package static var restoresRows: Bool { true }

  package func obstacle(toUndoing event: ScriptEvent) -> String? {
    script.obstacles[event.kind]
  }

  package var isWhole: Bool { stopped == nil && !isWaiting }

  package mutating func adoptFault(of pending: ScriptState, at seq: UInt64) {
    guard let failed = pending.stopped, failed.seq <= seq, stopped == nil else { return }
    // So that no snapshot is made of it.
    (stopped, hasStopped) = (failed, true)
  }

  package static func event(ofOther type: String, _ data: JSONText) -> ScriptEvent? {
    ScriptEvent(type, data)
  }

  package mutating func apply(_ event: ScriptEvent, at place: EventContext) {
    apply(event, at: ScriptPlace(place))
  }

  mutating func apply(_ event: ScriptEvent, at place: ScriptPlace) {
    guard stopped == nil, !isWaiting else { return }
    if event.kind == RestoredRows.kind {
      if let rows: RestoredRows = try? JSONDecoder().decode(from: event.data) { restore(rows) }
      (lastSeq, lastKind) = (place.seq, event.kind)
      return
    }
    var folds: [OtherFold]?
    if event.isOther {
      let found = script.folds(of: event.kind, in: place.stream)
      if found.isEmpty { return }
      folds = found
    } else if !script.applies(event.kind) {
      if !script.ignored.contains(event.kind) { skipped.insert(event.kind) }
      return
    }
    let world = FoldWorld(script)
    swap(&world.rows, &rows)
    swap(&world.singles, &singles)
    var failure: ScriptFailure?
    if let folds {
      for other in folds where failure == nil {
        failure = fold(other.key, event.data, at: place, in: world)
      }
    } else {
      failure = fold(event.kind, event.data, at: place, in: world)
    }
    if failure != nil { world.undo() }
    swap(&world.rows, &rows)
    swap(&world.singles, &singles)
    appliedCount += 1
    (lastSeq, lastKind) = (place.seq, event.kind)
    if let failure { stopped = StoppedFold(seq: place.seq, kind: event.kind, failure: failure) }
  }

  private mutating func fold(
    _ kind: String, _ data: JSONText, at place: ScriptPlace, in world: FoldWorld
  ) -> ScriptFailure? {
    do throws(ScriptFailure) {
      let interpreter = try makeInterpreter()
      if let failure = interpreter.fold(kind, data, at: place, in: world) {
        return failure
      }
      // For own events now and then: after a command it is checked anyway, and a replay must be fast.
      let count = appliedCount + 1
      let isChecked = count & (count - 1) == 0 || kind.isKindOfOther
      return isChecked && interpreter.hasChanged ? .changed(script) : nil
    } catch {
      return error
    }
  }

  /// Stops at the last event if the folds have changed a variable of the file.
  mutating func checkVariables() {
    guard stopped == nil, let interpreter, interpreter.hasChanged else { return }
    stopped = StoppedFold(seq: lastSeq, kind: lastKind, failure: .changed(script))
  }

  /// Returns the interpreter, which is made if there is none.
  mutating func makeInterpreter() throws(ScriptFailure) -> any ScriptInterpreter {
    if let interpreter { return interpreter }
    let made = try script.interpreter()
    if isWatched { made.watch() }
    interpreter = made
    return made
  }

  /// Uses another script with the same tables and folds.
  mutating func use(_ script: Script) {
    self.script = script
    interpreter = nil
  }

  func row(_ key: String, of table: Int) -> JSONText? {
    switch script.places[table] {
    case .rows(let i): return rows[i].rows[key]
    case .single(let i):
      let value = singles[i].value
      return value == .null ? nil : value
    }
  }

  func keys(of table: Int, atMost most: Int) -> [String]? {
    guard case .rows(let i) = script.places[table], rows[i].count <= most else { return nil }
    return rows[i].rows.keys.sorted()
  }

  // MARK: Snapshots

  package func encodeSnapshot(by coder: EventCoder, _ names: NameList) -> JSONText {
    // A later version of the script begins before the event that this one could not apply.
    guard stopped == nil else { return JSONText(member: "stopped", JSONText(true)) }
    let kept = Kept(
      fold: script.foldHash, rows: rows.map(\.rows), singles: singles.map(\.value))
    return coder.text(kept)
  }

  package init?(snapshot text: JSONText, by coder: EventCoder, _ names: Names) { return nil }

  package func restored(
    from text: JSONText, by coder: EventCoder, _ names: Names
  ) -> ScriptState? {
    guard let kept: Kept = try? JSONDecoder().decode(from: text), kept.fold == script.foldHash,
      kept.rows.count == rows.count, kept.singles.count == singles.count
    else { return nil }
    var state = ScriptState(script)
    for (i, rows) in kept.rows.enumerated() {
      for (key, row) in rows { state.rows[i][key] = row }
    }
    for (i, value) in kept.singles.enumerated() { state.singles[i].value = value }
    return state
  }

  private struct Kept: Codable {
    let fold: String
    let rows: [[String: JSONText]]
    let singles: [JSONText]
  }
}

/// The tables while a fold runs.
private final class FoldWorld: ScriptWorld {
  private let script: Script
  var rows: [Table<String, JSONText>] = []
  var singles: [Single<JSONText>] = []

  /// A row before it was written, in tables that note nothing.
  private struct Former {
    let table: Int
    let key: String
    let row: JSONText?
  }

  private var before: [Former] = []

  init(_ script: Script) { self.script = script }

  func row(_ key: String, of table: Int) -> JSONText? {
    switch script.places[table] {
    case .rows(let i): return rows[i].rows[key]
    case .single(let i):
      let value = singles[i].value
      return value == .null ? nil : value
    }
  }

  func set(_ key: String, of table: Int, to row: JSONText?) -> String? {
    if let row, let fault = ValueFault(row) { return "\(fault)" }
    if case .rows = script.places[table], !script.isPlain(key, in: table),
      let fault = script.fault(ofKey: key, in: table)
    {
      return fault
    }
    let former = exchange(key, of: table, row)
    if !isNoting(table) { before.append(Former(table: table, key: key, row: former)) }
    return nil
  }

  private func isNoting(_ table: Int) -> Bool {
    switch script.places[table] {
    case .rows(let i): rows[i].isNoting
    case .single(let i): singles[i].isNoting
    }
  }

  @discardableResult
  private func exchange(_ key: String, of table: Int, _ row: JSONText?) -> JSONText? {
    switch script.places[table] {
    case .rows(let i): return rows[i].exchange(key, row)
    case .single(let i):
      let former = singles[i].value
      singles[i].value = row ?? .null
      return former == .null ? nil : former
    }
  }

  /// Puts all rows back, because the fold has failed.
  func undo() {
    for entry in before.reversed() { exchange(entry.key, of: entry.table, entry.row) }
    for i in rows.indices where rows[i].isNoting { rows[i].revertEvent(at: 0) }
    for i in singles.indices where singles[i].isNoting { singles[i].revertEvent(at: 0) }
  }

  func keys(of table: Int, atMost most: Int) -> [String]? {
    guard case .rows(let i) = script.places[table], rows[i].count <= most else { return nil }
    return rows[i].rows.keys.sorted()
  }

  func record(_ kind: String, _ data: JSONText, in stream: String?) -> ScriptRecording {
    .refused("a fold records nothing")
  }

  var now: Int64 { 0 }
}
