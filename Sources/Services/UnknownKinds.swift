internal import Journal

/// The events of a service that this program does not know and has passed over.
///
/// What they say is in no state, so no snapshot may be written that claims to contain them: a
/// program that knows them would begin behind them.
package struct UnknownKinds: Equatable, Sendable {
  /// The position of the first.
  package private(set) var first: UInt64?

  /// How many there are of each type.
  package private(set) var counts: [String: Int] = [:]

  mutating func note(_ record: Record) {
    if first == nil { first = record.seq }
    counts[record.type, default: 0] += 1
  }
}
