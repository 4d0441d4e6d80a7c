internal import Journal

/// The unknown events of a service, which the replay has skipped.
///
/// The state does not contain them. A snapshot after them would hide them from a newer program,
/// so none may be written.
package struct UnknownKinds: Equatable, Sendable {
  /// The position of the first one.
  package private(set) var first: UInt64?

  /// The number of events of each type.
  package private(set) var counts: [String: Int] = [:]

  mutating func note(_ record: Record) {
    if first == nil { first = record.seq }
    counts[record.type, default: 0] += 1
  }
}
