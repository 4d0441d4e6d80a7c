package import Signals

extension Ledger {
  /// Returns a dictionary of the durable state as a list ordered by key, for views.
  ///
  /// Views share it.
  ///
  ///     var people: RowList<Int, Person> {
  ///       ledger.rows(of: \.people) { _, place in [number(of: place.stream)] }
  ///     }
  ///
  /// - Parameter keys: Returns the keys that an event adds, changes or removes.
  package func rows<Key: Comparable, Value>(
    of entries: KeyPath<State, [Key: Value]>,
    changedBy keys: @escaping (State.Event, Place) -> [Key]
  ) -> RowList<Key, Value> {
    RowList(
      Identity(self, entries), keys: { [self] in Array(shown[keyPath: entries].keys) },
      row: { [self] in shown[keyPath: entries][$0] },
      changes: happened.compactMap { event, place in
        let keys = keys(event, place)
        return keys.isEmpty ? nil : .rows(keys)
      })
  }
}
