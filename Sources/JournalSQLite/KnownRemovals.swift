/// The events that were removed from a journal.
package struct KnownRemovals: Equatable, Sendable {
  /// A range in which events were removed, and the services that they belonged to.
  package struct Stretch: Equatable, Sendable {
    package let range: ClosedRange<UInt64>
    package let services: [String]

    package init(range: ClosedRange<UInt64>, services: [String]) {
      (self.range, self.services) = (range, services)
    }
  }

  package var stretches: [Stretch] = []

  /// The last removed position of each service.
  package var services: [String: UInt64] = [:]

  package init() {}

  init(_ database: Database) throws(SQLiteError) {
    guard try RemovalIndex(database) != nil else { return }
    let rows = try Statement(
      "SELECT first, last, services FROM removal ORDER BY first", on: database)
    while try rows.step() {
      let (from, to) = (try rows.position(0), try rows.position(1))
      guard from <= to else {
        throw SQLiteError(damage: "events \(from) to \(to) cannot have been removed")
      }
      stretches.append(
        Stretch(
          range: from...to,
          services: rows.string(2).split(separator: " ").map(String.init)))
    }
    let prefix = RemovalTable.key(of: "")
    let keys = try Statement(
      "SELECT key, CAST(value AS INTEGER) FROM journal WHERE key GLOB '\(prefix)*'", on: database)
    while try keys.step() {
      services[String(keys.string(0).dropFirst(prefix.count))] = try keys.position(1)
    }
  }
}
