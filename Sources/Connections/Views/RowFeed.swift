internal import JSON
internal import Signals

/// A list that several views show by rows.
///
/// Only changed rows are rebuilt and encoded, once for all views.
final class RowFeed<Key: Hashable & Comparable, Row: Encodable>: ViewFeed {
  /// The most changed rows to look up one by one.
  ///
  /// For more, the feed passes over all rows once.
  private static var fewRows: Int { 32 }

  private let list: RowList<Key, Row>
  private let rows = ListLog()

  /// The keys of the rows, in order.
  private var keys: [Key] = []

  /// The keys of the rows to rebuild.
  private var changed: Set<Key> = []
  private var haveAllChanged = false

  override var log: ListLog? { rows }

  init(_ list: RowList<Key, Row>, _ hub: Hub) {
    self.list = list
    super.init(ViewFeed.Key(RowFeed.self, list.identity), hub)
    observation = list.changes.observeNext { [unowned self] in take($0) }
    keys = list.keys().sorted()
    rows.replace(by: keys.compactMap(row))
  }

  private func take(_ change: RowList<Key, Row>.Change) {
    switch change {
    case .rows(let keys): changed.formUnion(keys)
    case .all: haveAllChanged = true
    }
    markStale()
  }

  override func make() {
    if haveAllChanged { changed.formUnion(keys + list.keys()) }
    let changed = changed.sorted()
    (self.changed, haveAllChanged) = ([], false)
    if changed.count <= Self.fewRows { find(changed) } else { goThrough(changed) }
  }

  private func row(_ key: Key) -> JSONText? { list.row(key).map(hub.encoder.shown) }

  /// Rebuilds rows one by one.
  private func find(_ changed: [Key]) {
    for key in changed {
      let index = place(of: key)
      let isThere = index < keys.count && keys[index] == key
      switch (row(key), isThere) {
      case (let row?, true):
        guard rows.elements[index] != row else { break }
        rows.apply([.update(at: index, newElement: row)])
      case (let row?, false):
        keys.insert(key, at: index)
        rows.apply([.insert(row, at: index)])
      case (nil, true):
        keys.remove(at: index)
        rows.apply([.delete(at: index)])
      case (nil, false): break
      }
    }
  }

  /// Returns the index of a row, or the index at which to insert it.
  private func place(of key: Key) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle] < key { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Rebuilds rows in one pass over all of them.
  private func goThrough(_ changed: [Key]) {
    let (oldKeys, oldRows) = (keys, rows.elements)
    var (newKeys, newRows): ([Key], [JSONText]) = ([], [])
    var steps: [ListStep] = []
    var index = 0
    for key in changed {
      while index < oldKeys.count, oldKeys[index] < key {
        newKeys.append(oldKeys[index])
        newRows.append(oldRows[index])
        index += 1
      }
      let old = index < oldKeys.count && oldKeys[index] == key ? oldRows[index] : nil
      if old != nil { index += 1 }
      // Rows before this one are final and rows after it are old, so each step refers to the
      // current index.
      let at = newRows.count
      let new = row(key)
      switch (old, new) {
      case (let old?, let new?):
        if old != new { steps.append(ListStep(at: at, from: old, to: new)) }
      case (nil, let new?): steps.append(ListStep(.insert(new, at: at), in: []))
      case (.some, nil): steps.append(ListStep(.delete(at: at), in: []))
      case (nil, nil): break
      }
      if let new {
        newKeys.append(key)
        newRows.append(new)
      }
    }
    newKeys += oldKeys[index...]
    newRows += oldRows[index...]
    keys = newKeys
    rows.become(newRows, by: steps)
  }
}
