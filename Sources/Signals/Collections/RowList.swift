/// A list by its rows: which there are, in the order of their keys, and which may be others now.
///
/// It describes and keeps nothing. Who shows it keeps the rows, and asks for those that may have
/// changed: a change costs what it changes, however long the list is, and those who show lists of
/// the same identity share the work.
package struct RowList<Key: Hashable & Comparable, Row> {
  /// The rows that may be others than before: new, changed or gone.
  package enum Change {
    case rows([Key])
    case all
  }

  /// Lists of the same identity have the same rows.
  package let identity: Identity

  /// The keys of all rows, in any order.
  package let keys: () -> [Key]

  /// The row of a key; `nil` when there is none.
  package let row: (Key) -> Row?

  /// Every change from now on.
  package let changes: SafeSignal<Change>

  /// - Parameter identity: Says all that the rows depend on.
  package init(
    _ identity: Identity, keys: @escaping () -> [Key], row: @escaping (Key) -> Row?,
    changes: SafeSignal<Change>
  ) {
    (self.identity, self.keys, self.row, self.changes) = (identity, keys, row, changes)
  }

  /// The same list with rows of another type.
  package func rows<Shown: ListRow>(
    as type: Shown.Type
  ) -> RowList<Key, Shown> where Shown.Key == Key, Shown.Value == Row {
    RowList<Key, Shown>(
      identity.shown(as: type), keys: keys, row: { [row] key in row(key).map { Shown(key, $0) } },
      changes: changes.map { change in
        switch change {
        case .rows(let keys): .rows(keys)
        case .all: .all
        }
      })
  }
}

/// A row as it is shown: it follows from what it is a row of, and from nothing else, so that all who
/// show the list share it.
package protocol ListRow {
  associatedtype Key
  associatedtype Value

  init(_ key: Key, _ value: Value)
}
