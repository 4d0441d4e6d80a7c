package import Facts
internal import Journal

/// Reads every record of a journal and continues after damaged ones.
///
/// A daemon may write the journal meanwhile. The check covers the events that existed at its start.
/// No transaction lasts longer than the reading of one page.
package struct JournalCheck {
  /// The result of a check.
  package struct Report: Equatable {
    package var epoch = ""
    package var first: UInt64 = 0
    package var last: UInt64 = 0

    /// The number of undamaged records, and of removed ones.
    package var count = 0
    package var removed: UInt64 = 0

    /// The damages, one line each; the check stops after a hundred.
    package var damages: [String] = []
  }

  private static let maxDamages = 100
  private let files: JournalFiles

  package var epoch: String { files.epoch }
  package var first: UInt64 { files.first }
  package var last: UInt64 { files.last }

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(path: String) throws(JournalError) {
    files = try JournalFiles(path: path, for: .checking)
  }

  /// - Parameter onPage: Called with the last position after each page.
  package func run(onPage: (UInt64) -> Void = { _ in }) throws(JournalError) -> Report {
    var report = Report(epoch: files.epoch, first: files.first, last: files.last)
    if files.lostEvents > 0 {
      report.damages.append("\(files.lostEvents) acknowledged events after \(files.last) are lost")
    }
    var position = files.first - 1
    while position < files.last, report.damages.count < Self.maxDamages {
      do throws(JournalError) {
        let records = try files.reader.records(
          after: position, limit: 1000, bytes: PageQueue.pageBytes)
        guard let last = records.last else {
          throw .corrupt(seq: position + 1, detail: "it is missing")
        }
        report.count += records.count
        position = last.seq
        onPage(position)
      } catch {
        guard case .corrupt(let seq, let detail) = error else { throw error }
        report.damages.append("event \(seq): \(detail)")
        position = max(seq, position + 1)
      }
    }
    do throws(SQLiteError) {
      let (removed, damages) = try files.reader.checkRemovals()
      report.removed = removed
      report.damages += damages
    } catch {
      throw .unavailable(detail: "\(error)")
    }
    try files.checkIsStill()
    return report
  }
}
