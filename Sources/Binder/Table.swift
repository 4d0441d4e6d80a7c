public import EventSourcing

/// A key of a row, which is a part of the name of its source: `Int`, `String`, or a type of your own
/// whose description is such a text.
public typealias TableKey = Codable & Comparable & Hashable & LosslessStringConvertible & Sendable

/// A row of a table, or an element of a list.
public typealias TableRow = Codable & Sendable

/// A table of a state: ``Table``, ``Single`` or ``Lists``.
public protocol NotingTable: Codable, Sendable {}

/// Rows by key, which notes the rows that an event changes.
///
///     titles[id] = title      // adds or replaces a row
///     titles[id]?.done = true // changes one, if it is there
///     titles[id] = nil        // removes it
public struct Table<Key: TableKey, Row: TableRow>: NotingTable, Sequence {
  @usableFromInline
  var engine = EventSourcing.Table<Key, Row>()

  /// Creates a table without rows.
  @inlinable
  public init() {}

  /// The row of a key; `nil` if there is none.
  @inlinable
  public subscript(key: Key) -> Row? {
    get { engine[key] }
    set { engine[key] = newValue }
    _modify { yield &engine[key] }
  }

  /// Removes all rows.
  ///
  /// `apply` must not assign a new table: nobody would know the rows before, so the command fails.
  @inlinable
  public mutating func removeAll() { engine.removeAll() }

  /// The number of rows.
  @inlinable
  public var count: Int { engine.count }

  /// Whether the table is empty.
  @inlinable
  public var isEmpty: Bool { engine.isEmpty }

  /// The keys of all rows, in no order.
  @inlinable
  public var keys: some Collection<Key> { engine.rows.keys }

  /// All rows, in no order.
  @inlinable
  public var rows: some Collection<Row> { engine.rows.values }

  /// Whether a row has this key.
  @inlinable
  public func contains(_ key: Key) -> Bool { engine.rows[key] != nil }

  /// Passes over the keys and rows, in no order.
  @inlinable
  public func makeIterator() -> some IteratorProtocol<(key: Key, value: Row)> {
    engine.rows.makeIterator()
  }

  /// Reads the rows from a snapshot.
  public init(from decoder: any Decoder) throws { engine = try .init(from: decoder) }

  /// Writes the rows into a snapshot: `{"rows":{…}}`, with `lastID` if the keys are integers.
  public func encode(to encoder: any Encoder) throws { try engine.encode(to: encoder) }
}

extension Table where Key == Int {
  /// A number that was never the key of a row: 1 more than the highest one so far.
  @inlinable
  public var nextID: Int { engine.nextID }
}

// A table that a newer program has added is not in older snapshots. The compiler's `init(from:)`
// prefers these functions to the general one.
extension KeyedDecodingContainer {
  /// Returns the rows of a table; none if the snapshot is from before the table.
  public func decode<RowKey, Row>(
    _ type: Table<RowKey, Row>.Type, forKey key: Key
  ) throws -> Table<RowKey, Row> {
    try decodeIfPresent(type, forKey: key) ?? Table()
  }

  /// Returns lists; none if the snapshot is from before them.
  public func decode<ListKey, Element>(
    _ type: Lists<ListKey, Element>.Type, forKey key: Key
  ) throws -> Lists<ListKey, Element> {
    try decodeIfPresent(type, forKey: key) ?? Lists()
  }
}

/// One value of a state, without a key.
///
/// A value that is added to a state later is not in older snapshots; add it to them in ``State/forms``:
///
///     static let forms = [Upcaster.adding("count", JSONText(0))]
public struct Single<Row: TableRow>: NotingTable {
  @usableFromInline
  var engine: EventSourcing.Single<Row>

  /// - Parameter value: The value before the first event.
  @inlinable
  public init(_ value: Row) { engine = .init(value) }

  /// The value.
  @inlinable
  public var value: Row {
    get { engine.value }
    set { engine.value = newValue }
    _modify { yield &engine.value }
  }

  /// Reads the value from a snapshot.
  public init(from decoder: any Decoder) throws { engine = try .init(from: decoder) }

  /// Writes the value into a snapshot.
  public func encode(to encoder: any Encoder) throws { try engine.encode(to: encoder) }
}

/// Lists by key, whose watchers get steps instead of the whole list.
///
/// A list without elements does not exist.
public struct Lists<Key: TableKey, Element: TableRow>: NotingTable {
  @usableFromInline
  var engine = ListTable<Key, Element>()

  /// Creates a table without lists.
  @inlinable
  public init() {}

  /// The elements of a list; none if it does not exist.
  ///
  /// Replacing all elements is one step, whose cost depends on their number.
  @inlinable
  public subscript(key: Key) -> [Element] {
    get { engine[key] }
    set { engine[key] = newValue }
  }

  /// The number of lists with elements.
  @inlinable
  public var count: Int { engine.count }

  /// Adds an element at the end of a list.
  @inlinable
  public mutating func append(_ element: Element, to key: Key) { engine.append(element, to: key) }

  /// Inserts an element; does nothing if the index is not within the list or at its end.
  @inlinable
  public mutating func insert(_ element: Element, at index: Int, in key: Key) {
    engine.insert(element, at: index, in: key)
  }

  /// Replaces an element; does nothing if there is none at the index.
  @inlinable
  public mutating func update(_ element: Element, at index: Int, in key: Key) {
    engine.update(element, at: index, in: key)
  }

  /// Removes an element; does nothing if there is none at the index.
  @inlinable
  public mutating func remove(at index: Int, in key: Key) { engine.remove(at: index, in: key) }

  /// Moves an element: removes it, then inserts it at `to` in the shortened list.
  ///
  /// Does nothing if an index is not within the list.
  @inlinable
  public mutating func move(from: Int, to: Int, in key: Key) {
    engine.move(from: from, to: to, in: key)
  }

  /// Removes all lists; see ``Table/removeAll()``.
  @inlinable
  public mutating func removeAll() { engine.removeAll() }

  /// Reads the lists from a snapshot.
  public init(from decoder: any Decoder) throws { engine = try .init(from: decoder) }

  /// Writes the lists into a snapshot.
  public func encode(to encoder: any Encoder) throws { try engine.encode(to: encoder) }
}
