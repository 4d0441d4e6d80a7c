package import Binder

/// Things to do, each with a title; a finished one stays until it is removed.
///
/// Each is a stream and a source `todo/ID`.
package final class TodoService {
  package static let maxCount = 10_000
  package static let maxTitleLength = 200

  /// Needed because one character can have any number of bytes.
  package static let maxTitleBytes = 800

  /// The most items that one command removes: about 5 ms of work.
  package static let maxCleared = 1_000

  package let ledger: Ledger<Todos>

  package init(in host: Host) { ledger = Ledger("todo", in: host) }

  /// Adds something to do.
  package func add(_ title: String) throws(Rejection) -> TodoItem {
    try check(title)
    guard ledger.pending.items.count < Self.maxCount, ledger.pending.items.nextID > 0 else {
      throw .rejected("too_many", "there are at most \(Self.maxCount) things to do")
    }
    let id = ledger.pending.items.nextID
    record(.added(title: title), id)
    return try item(id)
  }

  /// Gives an item another title; records nothing if it is the same.
  package func rename(_ id: Int, to title: String) throws(Rejection) -> TodoItem {
    let item = try item(id)
    try check(title)
    if item.title != title { record(.renamed(title: title), id) }
    return try self.item(id)
  }

  /// Finishes an item; records nothing if it is finished.
  package func finish(_ id: Int) throws(Rejection) -> TodoItem {
    if !(try item(id).done) { record(.finished, id) }
    return try item(id)
  }

  /// Opens a finished item again; records nothing if it is open.
  package func reopen(_ id: Int) throws(Rejection) -> TodoItem {
    if try item(id).done { record(.reopened, id) }
    return try item(id)
  }

  /// Finishes an open item, and opens a finished one again.
  package func toggle(_ id: Int) throws(Rejection) -> TodoItem {
    try item(id).done ? reopen(id) : finish(id)
  }

  /// Removes an item, and returns it.
  package func remove(_ id: Int) throws(Rejection) -> TodoItem {
    let item = try item(id)
    record(.removed, id)
    return item
  }

  /// Removes the finished items, or the oldest ``maxCleared`` of them, and returns how many.
  package func clearDone() -> Int {
    let done = ledger.pending.items.rows.lazy.filter(\.done).map(\.id).sorted()
    for id in done.prefix(Self.maxCleared) { record(.removed, id) }
    return min(done.count, Self.maxCleared)
  }

  /// Returns an item of the pending state, which includes events that are not durable yet.
  package func item(_ id: Int) throws(Rejection) -> TodoItem {
    if let item = ledger.pending.items[id] { return item }
    throw .notFound("todo", id).saying("there is nothing to do with the number \(id)")
  }

  private func record(_ event: Todos.Event, _ id: Int) { ledger.record(event, of: \.items, id) }

  private func check(_ title: String) throws(Rejection) {
    // A text has at most as many characters as bytes, and counting characters is slow.
    guard title.utf8.count <= Self.maxTitleBytes, !title.isEmpty,
      title.utf8.count <= Self.maxTitleLength || title.count <= Self.maxTitleLength,
      !title.hasControlCharacters
    else {
      throw .invalid(
        "title",
        "a title has 1 to \(Self.maxTitleLength) characters and no control characters, "
          + "\(Self.maxTitleBytes) bytes at most")
    }
  }
}
