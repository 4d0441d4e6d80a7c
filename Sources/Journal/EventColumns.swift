/// The columns of an event, in the order of its row in a ``RecordBatch``: numbers, then texts, and
/// last the checksum of all of them, which only stores have.
///
/// The statements and loops of all stores follow from this list. A new column is also added to
/// ``Record`` and ``RecordRow``, and to the tables of each store.
package enum EventColumns {
  /// The numbers, eight bytes each.
  package static let numbers = ["seq", "time", "version", "previous"]

  /// The texts; `command` and `meta` may be missing.
  package static let texts = ["stream", "type", "data", "command", "meta"]

  package static let checksum = "crc"

  package static let all = numbers + texts + [checksum]

  /// The names for a statement, separated by commas.
  package static let list = all.joined(separator: ", ")
}
