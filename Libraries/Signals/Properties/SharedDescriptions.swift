/// A value that is computed on demand instead of on every change.
///
/// It is a description and stores no value. A reader recomputes the value after changes, once for
/// several changes. Readers of values with equal identities share the computation.
public struct Computed<Value> {
  /// The identity of the value; values with equal identities are equal.
  public let identity: Identity

  /// Computes the current value.
  public let value: () -> Value

  /// Emits when the value may have changed since the run started.
  public let changes: SafeSignal<Void>

  /// Returns whether the first value is not there yet; a change follows when it is.
  public let isBeginning: () -> Bool

  /// - Parameters:
  ///   - identity: Covers everything that the value depends on.
  ///   - isBeginning: Returns whether the first value is not there yet.
  public init(
    _ identity: Identity, changes: SafeSignal<Void>, isBeginning: (() -> Bool)? = nil,
    value: @escaping () -> Value
  ) {
    (self.identity, self.changes, self.value) = (identity, changes, value)
    self.isBeginning = isBeginning ?? { false }
  }

  /// Returns the value converted to `type`.
  public func value<Shown: Rendering>(
    as type: Shown.Type
  ) -> Computed<Shown> where Shown.Value == Value {
    Computed<Shown>(identity.shown(as: type), changes: changes, isBeginning: isBeginning) {
      [value] in Shown(value())
    }
  }
}

/// A presentation that depends only on the value, so that all readers can share it.
public protocol Rendering {
  associatedtype Value

  init(_ value: Value)
}

/// The identity of a description: equal for descriptions of the same value.
public struct Identity: Hashable {
  private let parts: [AnyHashable]

  private init(parts: [AnyHashable]) {
    self.parts = parts
  }

  /// - Parameters:
  ///   - owner: The object that the value belongs to. The description must retain it.
  ///   - parts: The values that identify the description among those of the owner.
  public init(_ owner: AnyObject, _ parts: AnyHashable...) {
    self.parts = [ObjectIdentifier(owner)] + parts
  }

  /// Returns the identity of the same value presented as `type`.
  public func shown<Shown>(as type: Shown.Type) -> Identity {
    Identity(parts: parts + [ObjectIdentifier(type)])
  }
}

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

  /// Returns whether rows of the beginning are still missing; a change without rows ends that.
  public let isBeginning: () -> Bool

  /// - Parameters:
  ///   - identity: Identifies everything that the rows depend on.
  ///   - isBeginning: Returns whether rows that are there from the beginning are not made yet.
  public init(
    _ identity: Identity, keys: @escaping () -> [Key], row: @escaping (Key) -> Row?,
    changes: SafeSignal<Change>, isBeginning: (() -> Bool)? = nil
  ) {
    (self.identity, self.keys, self.row, self.changes) = (identity, keys, row, changes)
    self.isBeginning = isBeginning ?? { false }
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
      }, isBeginning: isBeginning)
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
