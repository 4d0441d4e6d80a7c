package import EventSourcing
package import Signals

/// Things to do, each with a title; a finished one stays until it is removed.
///
/// Each is a stream and a source `todo/ID`.
package final class TodoService {
  package static let maxCount = 10_000
  package static let maxTitleLength = 200

  /// Needed because one character can have any number of bytes.
  package static let maxTitleBytes = 800

  package let ledger: Ledger<Todos>

  package init(in host: ServiceHost) {
    ledger = Ledger("todo", in: host)
  }

  // MARK: Changing

  /// Adds something to do.
  package func add(_ title: String) throws(TodoError) -> TodoItem {
    try check(title)
    guard ledger.pending.items.count < Self.maxCount else { throw .tooMany(max: Self.maxCount) }
    guard ledger.pending.items.lastID < Int.max else { throw .noNumberLeft }
    let id = ledger.pending.items.nextID
    record(.added(title: title), id)
    return try item(id)
  }

  /// Gives an item another title; records nothing if it is the same.
  package func rename(_ id: Int, to title: String) throws(TodoError) -> TodoItem {
    let item = try item(id)
    try check(title)
    if item.title != title { record(.renamed(title: title), id) }
    return try self.item(id)
  }

  /// Finishes an item; records nothing if it is finished.
  package func finish(_ id: Int) throws(TodoError) -> TodoItem {
    if !(try item(id).done) { record(.finished, id) }
    return try item(id)
  }

  /// Opens a finished item again; records nothing if it is open.
  package func reopen(_ id: Int) throws(TodoError) -> TodoItem {
    if try item(id).done { record(.reopened, id) }
    return try item(id)
  }

  /// Finishes an open item, and opens a finished one again.
  package func toggle(_ id: Int) throws(TodoError) -> TodoItem {
    try item(id).done ? reopen(id) : finish(id)
  }

  /// Removes an item.
  ///
  /// - Returns: The removed item.
  package func remove(_ id: Int) throws(TodoError) -> TodoItem {
    let item = try item(id)
    record(.removed, id)
    return item
  }

  /// The most items that one command removes: about 5 ms of work.
  package static let maxCleared = 1_000

  /// Removes the finished items, or the oldest ``maxCleared`` of them.
  ///
  /// - Returns: How many were removed.
  package func clearDone() -> Int {
    let done = ledger.pending.items.rows.values.lazy.filter(\.done).map(\.id).sorted()
      .prefix(Self.maxCleared)
    for id in done { record(.removed, id) }
    return done.count
  }

  private func record(_ event: TodoEvent, _ id: Int) { ledger.record(event, of: \.items, id) }

  private func check(_ title: String) throws(TodoError) {
    guard title.utf8.count <= Self.maxTitleBytes, 1...Self.maxTitleLength ~= title.count,
      !title.hasControlCharacters
    else { throw .badTitle }
  }

  // MARK: Reading

  /// Returns an item of the pending state, which includes events that are not durable yet.
  package func item(_ id: Int) throws(TodoError) -> TodoItem {
    guard let item = ledger.pending.items[id] else { throw .unknown(id: id) }
    return item
  }

  /// The durable items, ordered by id.
  package var all: [TodoItem] { ledger.committed.items.rows.values.sorted { $0.id < $1.id } }

  /// The durable items by id; for views.
  package var rows: RowList<Int, TodoItem> {
    ledger.rows(of: \.items)
  }
}
