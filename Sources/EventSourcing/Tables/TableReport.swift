public import JSON
public import Model
public import Signals

/// The effect of one event on the charges of streams, the names of sources and the watchers of a
/// service that has tables.
///
/// A ledger has one, which each event uses.
@usableFromInline
package final class TableReport {
  private let actions: Actions
  private let streamNames: Names
  private let service: String

  /// The reason why the running command fails.
  enum Fault {
    case name(_ source: String, _ rule: String)
    case stored(StorageFault)

    /// `apply` breaks a rule.
    case program(_ rule: String)
  }

  /// The effects of a report on the ledger.
  struct Actions {
    /// Whether some source of the service is watched.
    let isAnyWatched: () -> Bool
    let isWatched: (_ source: String) -> Bool

    /// Reports a change to those who watch its source.
    let send: (SourceChange) -> Void

    /// Updates whether the source with a name has a value.
    let updateName: (_ number: Int, _ isThere: Bool) -> Void

    /// Lets the running command fail.
    let refuse: (Fault) -> Void
  }

  /// Encodes rows.
  @usableFromInline
  let encoder = JSONEncoder()

  /// The name of the source that is reported.
  @usableFromInline
  var name = ByteBuffer()

  // The running event.

  private var stream = 0

  /// The number of the table whose rows are reported.
  @usableFromInline
  private(set) var table = 0

  /// See ``begin(_:_:)``.
  private(set) var isTaken: (@Sendable (String) -> Bool)?

  /// The bytes by which the event has grown the state of its stream.
  @usableFromInline
  private(set) var growth = 0

  /// The bytes by which it has grown the state of other streams.
  @usableFromInline
  private(set) var others: [(stream: Int, growth: Int)] = []

  @usableFromInline
  var hasOthers: Bool { !others.isEmpty }

  // The event that is shown.

  /// Whether some source of the service is watched.
  @usableFromInline
  private(set) var isAnyWatched = false

  /// The changes for watchers, which get them when all rows are in the committed state.
  private var changes: [SourceChange] = []

  /// The observers of rows, by the number of the table.
  private var rowChanges: [RowChanges?] = []
  private var changedRows: [RowChanges] = []

  init(_ service: String, _ streamNames: Names, _ actions: Actions) {
    (self.service, self.streamNames, self.actions) = (service, streamNames, actions)
  }

  // MARK: Recorded events

  /// The number of no stream.
  static let noStream = -1

  @usableFromInline
  func beginRecording(in stream: Int, isNew: Bool) {
    self.stream = stream
    self.isNew = isNew && streamNames.number(of: service) != stream
    growth = 0
    if !adopted.isEmpty { adopted.removeAll(keepingCapacity: true) }
    if !others.isEmpty { others.removeAll(keepingCapacity: true) }
  }

  /// Whether the stream had no events before the running one, or they were forgotten, and is that of
  /// rows.
  @usableFromInline
  private(set) var isNew = false

  /// The tables whose row with the name of the stream was adopted; few of many.
  private var adopted: [Int] = []

  /// Charges the stream of the event for rows that it had no stream for until now.
  ///
  /// - Parameter bytes: The bytes of these rows.
  @usableFromInline
  func adopt(_ bytes: Int) {
    growth += bytes
    if streamNames.number(of: service) != stream { chargeService(-bytes) }
  }

  /// Adopts the row that the event has written, if it has the name ``name`` and that is the stream's.
  ///
  /// - Parameter bytes: The bytes of the row before the event.
  @usableFromInline
  func adoptRow(_ bytes: Int) {
    if streamNames.number(of: name.span) == stream { adopt(bytes, of: table) }
  }

  /// Adopts the row of a table with the name of the stream.
  ///
  /// - Parameter bytes: The bytes of the row before the event.
  @usableFromInline
  func adopt(_ bytes: Int, of table: Int) {
    adopted.append(table)
    adopt(bytes)
  }

  /// Whether the row of a table with the name of the stream was adopted.
  @usableFromInline
  func isAdopted(_ table: Int) -> Bool { adopted.contains(table) }

  /// Charges the row with the name ``name``.
  ///
  /// It is charged to the stream with its name, or to that of the service if there is none.
  @usableFromInline
  func charge(_ bytes: Int) {
    guard let number = streamNames.number(of: name.span),
      number == stream || streamNames.isHeld(number, by: .stream)
    else { return chargeService(bytes) }
    charge(number, bytes)
  }

  /// Charges the stream of the service, also if it has no events.
  @usableFromInline
  func chargeService(_ bytes: Int) {
    if bytes != 0 { charge(streamNames.add(service), bytes) }
  }

  /// Charges the stream of the service for all that no other stream is charged for, if it is charged
  /// for the first time.
  ///
  /// - Parameter size: Returns the bytes of the state that a stream is charged for.
  @usableFromInline
  func finishCharges(_ size: (_ stream: Int) -> Int) {
    guard !others.isEmpty, let number = streamNames.number(of: service),
      !streamNames.isHeld(number, by: .stream),
      let place = others.firstIndex(where: { $0.stream == number })
    else { return }
    others[place].growth = size(number)
  }

  private func charge(_ number: Int, _ bytes: Int) {
    guard bytes != 0 else { return }
    if number == stream {
      growth += bytes
    } else if let place = others.firstIndex(where: { $0.stream == number }) {
      others[place].growth += bytes
    } else {
      others.append((number, bytes))
    }
  }

  /// Lets the running command fail because of a rule that ``name`` breaks.
  func refuseName(_ rule: String) { refuse(name.string, rule) }

  /// Lets the running command fail because of a rule that a name breaks.
  func refuse(_ name: String, _ rule: String) { actions.refuse(.name(name, rule)) }

  /// Returns the bytes that are charged for a new row, and lets the running command fail if the row
  /// cannot be stored.
  @inlinable
  func size<Row: TableRow>(_ row: Row?) -> Int {
    guard let row else { return 0 }
    if Row.self == String.self {
      let bytes = (unsafe unsafeBitCast(row, to: String.self)).utf8.count &+ 2
      if bytes > Self.maxBytes { refuseLong(bytes) }
      return bytes
    }
    if Row.self == JSONText.self { return check(unsafe unsafeBitCast(row, to: JSONText.self)) }
    return encodedSize(row)
  }

  @usableFromInline
  func encodedSize<Row: TableRow>(_ row: Row) -> Int {
    guard let size = try? encoder.size(of: row, depth: ValueFault.maxDepth) else {
      actions.refuse(.stored(.notEncoded(type: "\(Row.self)")))
      return 0
    }
    if size.bytes > Self.maxBytes {
      refuseLong(size.bytes)
    } else if size.isTooDeep {
      refuse(.tooDeep)
    }
    return size.bytes
  }

  @usableFromInline
  func check(_ text: JSONText) -> Int {
    if let fault = ValueFault(text) { refuse(fault) }
    return text.text.utf8.count
  }

  /// See ``ValueFault/maxBytes``.
  @usableFromInline
  static var maxBytes: Int { 256 * 1024 }

  @usableFromInline
  func refuseLong(_ bytes: Int) { refuse(.tooLong(bytes: bytes)) }

  private func refuse(_ fault: ValueFault) {
    actions.refuse(.stored(.value(fault)))
  }

  // MARK: Replaced tables

  /// Whether `apply` has put another table in the place of one, so that its notes are lost.
  @usableFromInline
  private(set) var isReplaced = false

  /// Begins with the rows of the table with a number.
  ///
  /// - Parameter isTaken: Whether a name may be one of another table; `nil` if none can be.
  @usableFromInline
  func begin(_ table: Int, _ isTaken: (@Sendable (String) -> Bool)?) {
    self.table = table
    if isTaken != nil || self.isTaken != nil { self.isTaken = isTaken }
  }

  /// Checks that the notes are those of the table that is reported.
  ///
  /// If they are not, `apply` has assigned another table. The changes are unknown, so the command
  /// fails.
  @inlinable
  func checkIsNoted<Note>(_ notes: borrowing TableNotes<Note>) -> Bool {
    if notes.isOf(table) { return true }
    refuseReplaced()
    return false
  }

  @usableFromInline
  func refuseReplaced() {
    isReplaced = true
    actions.refuse(.program(replacementFault))
  }

  /// The rule that `apply` breaks.
  var replacementFault: String {
    "'apply' of \(service) assigns a whole table (number \(table + 1) of its list): it must write "
      + "rows, or call removeAll()"
  }

  func endReplacement() { isReplaced = false }

  /// Returns the number of the name ``name``.
  @usableFromInline
  func addName() -> Int {
    if let known = streamNames.number(of: name.span) { return known }
    return streamNames.add(name.string)
  }

  // MARK: Durable events

  @usableFromInline
  func beginShowing() { isAnyWatched = actions.isAnyWatched() }

  /// Updates whether the source with the name ``name`` has a value.
  @usableFromInline
  func updateName(isThere: Bool) {
    actions.updateName(addName(), isThere)
  }

  /// Updates whether a source has a value.
  func updateName(_ source: String, isThere: Bool) {
    actions.updateName(streamNames.add(source), isThere)
  }

  /// Whether somebody watches a source.
  func isWatched(_ source: String) -> Bool { isAnyWatched && actions.isWatched(source) }

  /// Returns the name ``name`` if somebody watches the source.
  @usableFromInline
  var watchedName: String? {
    guard isAnyWatched else { return nil }
    let source = name.string
    return actions.isWatched(source) ? source : nil
  }

  @usableFromInline
  func add(_ change: SourceChange) { changes.append(change) }

  /// Reports the changes of the shown event.
  @usableFromInline
  func send() {
    if !changes.isEmpty {
      let changes = changes
      self.changes = []
      for change in changes { actions.send(change) }
    }
    if !changedRows.isEmpty {
      let rows = changedRows
      changedRows = []
      for rows in rows { rows.send() }
    }
  }

  // MARK: Rows of views

  /// Returns the observers of a table's rows; `nil` if nobody observes them.
  @usableFromInline
  func observedRows(_ table: Int) -> RowChanges? {
    guard table < rowChanges.count, let rows = rowChanges[table], rows.hasObservers else {
      return nil
    }
    return rows
  }

  /// Lets the observers of a table's rows know when the event is shown.
  @usableFromInline
  func add(_ rows: RowChanges) {
    if !changedRows.contains(where: { $0 === rows }) { changedRows.append(rows) }
  }

  /// Returns the observers of a table's rows.
  @usableFromInline
  func rows<Key>(_ table: Int, _ key: Key.Type) -> KeyChanges<Key> {
    while rowChanges.count <= table { rowChanges.append(nil) }
    if let rows = rowChanges[table] as? KeyChanges<Key> { return rows }
    let rows = KeyChanges<Key>()
    rowChanges[table] = rows
    return rows
  }
}

/// The observers of the rows of one table.
@usableFromInline
package class RowChanges {
  var hasObservers: Bool { false }

  /// Emits the keys of the changed rows.
  func send() {}
}

/// The observers of the rows with some type of keys.
@usableFromInline
package final class KeyChanges<Key>: RowChanges {
  @usableFromInline
  var keys: [Key] = []

  /// Emits the keys of the rows that an event has changed.
  @usableFromInline
  let changes = PassthroughSubject<[Key], Never>()

  override var hasObservers: Bool { changes.hasObservers }

  override func send() {
    let keys = keys
    self.keys = []
    changes.send(keys)
  }
}

/// The JSON of rows.
@usableFromInline
enum RowText {
  /// Returns a row as JSON.
  @inlinable
  static func text<Row: TableRow>(_ row: Row, _ encoder: @autoclosure () -> JSONEncoder) -> JSONText
  {
    if Row.self == JSONText.self { return unsafe unsafeBitCast(row, to: JSONText.self) }
    if Row.self == String.self {
      return JSONText(string: unsafe unsafeBitCast(row, to: String.self))
    }
    return encoded(row, encoder())
  }

  @usableFromInline
  static func encoded<Row: TableRow>(_ row: Row, _ encoder: JSONEncoder) -> JSONText {
    // The command that writes a row without a text fails, but may ask for the row before it ends.
    (try? encoder.text(row)) ?? .null
  }

  /// Returns the bytes that are charged for a row; 0 for none.
  @inlinable
  static func size<Row: TableRow>(_ row: Row?, _ encoder: @autoclosure () -> JSONEncoder) -> Int {
    guard let row else { return 0 }
    if Row.self == String.self {
      return (unsafe unsafeBitCast(row, to: String.self)).utf8.count &+ 2
    }
    if Row.self == JSONText.self {
      return (unsafe unsafeBitCast(row, to: JSONText.self)).text.utf8.count
    }
    return encodedSize(row, encoder())
  }

  @usableFromInline
  static func encodedSize<Row: TableRow>(_ row: Row, _ encoder: JSONEncoder) -> Int {
    (try? encoder.byteCount(of: row)) ?? JSONText.null.text.utf8.count
  }
}
