package import Journal
package import Model

/// Reads every record of a journal in PostgreSQL and continues after damaged ones.
///
/// Daemons may write the journal meanwhile. The check covers the events that existed at its start.
package struct PostgresCheck {
  private static let maxDamages = 100
  private let journal: PostgresJournal
  private let session: PostgresThreadSession
  private let outline: PostgresJournal.Outline

  /// The name of the daemon that the journal belongs to.
  package var daemon: String { outline.daemon }
  package var epoch: String { outline.epoch }
  package var first: UInt64 { outline.first }
  package var last: UInt64 { outline.last }

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(_ journal: PostgresJournal) throws(JournalError) {
    self.journal = journal
    session = try journal.open()
    outline = try journal.outline(session)
  }

  /// - Parameter onPage: Called with the last position after each page.
  package func run(onPage: (UInt64) -> Void = { _ in }) throws(JournalError) -> JournalReport {
    var report = JournalReport(epoch: epoch, first: first, last: last)
    let reader = PostgresReader(journal.string)
    var position = first - 1
    while position < last, report.damages.count < Self.maxDamages {
      do throws(JournalError) {
        let limit = Int(clamping: min(1_000, last - position))
        let events = try reader.page(after: position, limit: limit)
        guard !events.isEmpty else {
          throw .corrupt(seq: position + 1, detail: "it is missing")
        }
        report.count += events.count
        position = events.last
        onPage(position)
      } catch {
        guard case .corrupt(let seq, let detail) = error else { throw error }
        report.damages.append("event \(seq): \(detail)")
        position = max(seq, position + 1)
      }
    }
    try checkRemovals(&report)
    return report
  }

  private func checkRemovals(_ report: inout JournalReport) throws(JournalError) {
    let first = first
    let rows = try journal.read(session) { session throws(PostgresError) in
      try session.run(
        text: """
          SELECT r.first, r.last, r.kept,
            (SELECT count(*) FROM binder.event WHERE seq BETWEEN r.first AND r.last)
          FROM binder.removal r ORDER BY r.first
          """)
    }
    var end: UInt64 = 0
    for row in 0..<rows.count {
      let (from, to) = (max(first, rows.number(row, 0)), rows.number(row, 1))
      let (wanted, found) = (rows.number(row, 2), rows.number(row, 3))
      guard rows.number(row, 0) > end, from <= to, to <= last, wanted <= to - from + 1 else {
        report.damages.append("the removal of events \(rows.number(row, 0)) to \(to) is invalid")
        continue
      }
      end = to
      report.removed += to - from + 1 - wanted
      guard wanted != found else { continue }
      report.damages.append("events \(from) to \(to): \(wanted) should exist, \(found) do")
    }
  }
}
