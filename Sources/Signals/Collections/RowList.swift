/// A description of a list: the keys of its rows, and the changes to them.
///
/// It stores no rows. A reader stores them and reads those again that may have changed. So a change
/// costs the same however long the list is, and readers of lists with the same identity share the
/// work.
public struct RowList<Key: Hashable & Comparable, Row> {
  /// The rows that may have changed: inserted, updated or removed.
  public enum Change {
    case rows([Key])
    case all
  }

  /// Lists of the same identity have the same rows.
  public let identity: Identity

  /// Returns the keys of all rows, in any order.
  public let keys: () -> [Key]

  /// Returns the row for a key; `nil` if there is none.
  public let row: (Key) -> Row?

  /// Emits every change after subscription.
  public let changes: SafeSignal<Change>

  /// - Parameter identity: Identifies everything that the rows depend on.
  public init(
    _ identity: Identity, keys: @escaping () -> [Key], row: @escaping (Key) -> Row?,
    changes: SafeSignal<Change>
  ) {
    (self.identity, self.keys, self.row, self.changes) = (identity, keys, row, changes)
  }

  /// Returns the same list with rows of another type.
  public func rows<Shown: ListRow>(
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

/// A displayed row.
///
/// It depends only on its key and value, so all readers of the list share it.
public protocol ListRow {
  associatedtype Key
  associatedtype Value

  init(_ key: Key, _ value: Value)
}
