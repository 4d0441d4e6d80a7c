public import EventSourcing
public import JSON
public import Signals

/// The state of one service, and its access to the journal.
///
///     guard let title = ledger.pending.titles[id] else { throw .notFound("chore", id) }
///     ledger.record(.done(id: id))
public final class Ledger<S: State> {
  @usableFromInline
  package let engine: EventSourcing.Ledger<Stored<S>>

  @usableFromInline
  package let host: Host

  /// The most key paths to one table to know.
  private static var knownPaths: Int { 4 }

  /// The numbers of the tables, by the key paths that the service uses.
  @usableFromInline
  var numbers: [(path: AnyKeyPath, number: Int)] = []

  /// Adds a service to a daemon; call it before the start, as `Daemon.main` does.
  ///
  /// A mistake in the name or in the sources ends the start of the daemon.
  ///
  /// - Parameter service: The first part of the names of its sources, methods and events.
  public init(
    _ service: String, in host: Host, file: StaticString = #fileID, line: UInt = #line
  ) {
    let place = SourcePlace(file, line)
    self.host = host
    let claimed = host.claim(service, place)
    for mistake in Source<S>.mistakes(in: service) { host.addMistake(mistake, place) }
    engine = EventSourcing.Ledger(claimed, in: host.engine, from: Stored())
  }

  /// The name of the service.
  public var service: String { engine.service }

  /// The state with all recorded events; check commands against it.
  @inlinable
  public var pending: S { _read { yield engine.pending.state } }

  /// The state with all durable events; clients see nothing else.
  @inlinable
  public var committed: S { _read { yield engine.committed.state } }

  // MARK: Recording

  /// Records an event in the stream of the service.
  ///
  /// It takes effect in ``pending`` now, and in ``committed`` once it is durable. Only for methods that
  /// are called by a client or in ``Host/perform(_:_:)``.
  @inlinable
  public func record(_ event: S.Event) {
    if host.mayRecord() { engine.record(StoredEvent(event)) }
  }

  /// Records an event in the stream of a row, which then has a history, versions and rights of its own.
  ///
  /// `context.key()` in ``State/apply(_:at:)`` is then the key.
  ///
  /// - Parameters:
  ///   - path: A table that clients see.
  ///   - key: The key of a row. A key that makes no valid name fails the command.
  @inlinable
  public func record<Key: TableKey, Row: TableRow>(
    _ event: S.Event, of path: KeyPath<S, Table<Key, Row>>, _ key: Key
  ) {
    if host.mayRecord() { engine.record(StoredEvent(event), inTable: number(of: path), key) }
  }

  /// Records an event in a stream that is no row, for example the messages of a room.
  ///
  /// The stream has a history, versions and rights of its own. The event must carry what `apply` needs.
  ///
  ///     ledger.record(.said(room: 7, text: text), in: "chat/rooms/7/messages")
  ///
  /// - Parameter stream: A name below that of the service; another one fails the command.
  @inlinable
  public func record(_ event: S.Event, in stream: String) {
    if host.mayRecord() { engine.record(StoredEvent(event), in: stream) }
  }

  @inlinable
  func number(of path: AnyKeyPath) -> Int {
    for known in numbers where known.path === path { return known.number }
    return find(path)
  }

  @usableFromInline
  func find(_ path: AnyKeyPath) -> Int {
    guard let number = S.sources.firstIndex(where: { $0.path as AnyKeyPath? == path }) else {
      preconditionFailure("'sources' of \(S.self) does not list \(path)")
    }
    // Each place in the code has an object of its own; generic code makes a new one at each call.
    if numbers.count(where: { $0.number == number }) < Self.knownPaths {
      numbers.append((path, number))
    }
    return number
  }

  // MARK: Observing

  /// Returns the durable rows of a table as a list for views, ordered by key, which all views share.
  ///
  /// The cost of a change depends on the changed rows only.
  @inlinable
  public func rows<Key: TableKey, Row: TableRow>(
    _ path: KeyPath<S, Table<Key, Row>>
  ) -> RowList<Key, Row> {
    engine.rows(ofTable: number(of: path)) { $0.state[keyPath: path].engine }
  }

  /// Returns the durable rows of a table as objects `{"id":KEY,NAME:ROW}`, for tables whose rows are
  /// plain values; see ``rows(_:)``.
  public func rows<Key: TableKey, Row: TableRow>(
    _ path: KeyPath<S, Table<Key, Row>>, as name: String
  ) -> RowList<Key, NamedRow<Key, Row>> {
    let plain = rows(path)
    return RowList(
      Identity(self, path, name), keys: plain.keys,
      row: { key in plain.row(key).map { NamedRow(id: key, name: name, row: $0) } },
      changes: plain.changes.map { change in
        switch change {
        case .rows(let keys): .rows(keys)
        case .all: .all
        }
      })
  }

  /// Returns the durable rows of a table as objects with their key as a first member, for intents that
  /// need it; see ``rows(_:)``.
  ///
  ///     view.bind("chores", to: ledger.rows(\.items, withKey: "id"))  // {"id":1,"title":"milk"}
  ///
  /// - Parameters:
  ///   - path: A table whose rows are objects.
  ///   - name: The name of the member; the rows have no member of this name.
  public func rows<Key: TableKey, Row: TableRow>(
    _ path: KeyPath<S, Table<Key, Row>>, withKey name: String
  ) -> RowList<Key, KeyedRow<Key, Row>> {
    let plain = rows(path)
    return RowList(
      Identity(self, path, "", name), keys: plain.keys,
      row: { key in plain.row(key).map { KeyedRow(id: key, name: name, row: $0) } },
      changes: plain.changes.map { change in
        switch change {
        case .rows(let keys): .rows(keys)
        case .all: .all
        }
      })
  }

  /// Emits each durable event, after it was applied to ``committed``.
  public var events: SafeSignal<(event: S.Event, context: EventContext)> {
    // All states have the same patterns. An observer that kept the ledger would never let go of it.
    let patterns = engine.committed.patterns
    return engine.happened.compactMap { happened in
      happened.event.own.map { ($0, EventContext(happened.place, patterns)) }
    }
  }

  /// Returns the durable value of a source as clients see it; `nil` if it has none.
  public func value(of source: String) -> JSONText? { engine.value(of: source) }

  /// Emits the durable value of a source now and after each change; `nil` while it has none.
  public func values(of source: String) -> SafeSignal<JSONText?> { engine.values(of: source) }
}

/// A row that is a plain value, as an object of a list in views.
public struct NamedRow<Key: TableKey, Row: TableRow>: Encodable {
  /// The key of the row.
  public let id: Key
  let name: String

  /// The row.
  public let row: Row

  init(id: Key, name: String, row: Row) { (self.id, self.name, self.row) = (id, name, row) }

  /// Writes `{"id":KEY,NAME:ROW}`.
  public func encode(to encoder: any Encoder) throws {
    var members = encoder.container(keyedBy: MemberName.self)
    try members.encode(id, forKey: MemberName(stringValue: "id"))
    try members.encode(row, forKey: MemberName(stringValue: name))
  }
}

/// A row that is an object, with its key as a member.
public struct KeyedRow<Key: TableKey, Row: TableRow>: Encodable {
  /// The key of the row.
  public let id: Key
  let name: String

  /// The row.
  public let row: Row

  init(id: Key, name: String, row: Row) { (self.id, self.name, self.row) = (id, name, row) }

  /// Writes the members of the row behind `NAME:KEY`; a row that is no object as it is.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    let text = try JSONEncoder().text(row)
    guard let rest = text.text.rest(behind: "{") else { return try container.encode(text) }
    let member = String(JSONText(members: [name: try JSONEncoder().text(id)]).text.dropLast())
    try container.encode(JSONText(trusted: member + (rest == "}" ? "" : ",") + rest))
  }
}

extension String {
  /// Returns the text behind a beginning; `nil` if it has another one.
  fileprivate func rest(behind beginning: String) -> Substring? {
    hasPrefix(beginning) ? dropFirst(beginning.count) : nil
  }
}

private struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}
