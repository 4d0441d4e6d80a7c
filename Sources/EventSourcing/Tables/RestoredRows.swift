internal import JSON

/// The data of an event that sets rows back to what they were: the part of an undo in one stream.
///
/// Every state of tables whose ``ServiceState/restoresRows`` is `true` applies it; see
/// ``TableState/restore(_:)``.
@usableFromInline
package struct RestoredRows: Codable, Equatable, Sendable {
  /// The kind of the event, which is no name of a case and of no function of a script.
  package static let kind = "rows-restored"

  /// A row; `row` is missing if it is removed.
  @usableFromInline
  package struct Row: Codable, Equatable, Sendable {
    /// The name of the table; see ``TableList/name(of:)``.
    let table: String

    /// The key; missing for a single value.
    let key: String?
    let row: JSONText?
  }

  let rows: [Row]
}

/// The place of a row in the tables of a state.
@usableFromInline
package struct RowPlace: Hashable, Sendable {
  let table: Int
  let key: String
}

/// A row that an event has written, as it is stored.
@usableFromInline
package struct RowWrite: Sendable {
  let place: RowPlace
  let before: JSONText?
  let after: JSONText?
}

/// The rows that an event has written, before they are read.
@usableFromInline
package struct EventWrites {
  let places: [RowPlace]

  /// The names of the sources that clients see among them.
  let sources: [String]

  /// Why the event cannot be undone; `nil` if it can.
  let obstacle: String?
}

/// A row by the names of its table, source and stream.
@usableFromInline
package struct NamedPlace {
  let table: String
  let key: String?

  /// The name of the source; `nil` if clients do not see the row.
  let source: String?

  /// The name of the stream of the row; `nil` if it is that of the service.
  let stream: String?

  /// Returns a row as clients see it.
  let shown: (JSONText) -> JSONText?

  /// Compares two rows.
  let isSame: (JSONText, JSONText) -> Bool
}
