package import Journal

/// Reads every record of a journal, and goes on after what is damaged.
///
/// A daemon may write it meanwhile: what it had at the beginning is checked, and nothing is held for
/// longer than a page is read.
package struct JournalCheck {
  /// What was found.
  package struct Report: Equatable {
    package var epoch = ""
    package var first: UInt64 = 0
    package var last: UInt64 = 0

    /// Records that read back, and those that were removed.
    package var count = 0
    package var removed: UInt64 = 0

    /// What does not, one line each; after a hundred no more are collected.
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

  /// - Parameter onPage: Told of the position after each page.
  package func run(onPage: (UInt64) -> Void = { _ in }) throws(JournalError) -> Report {
    var report = Report(epoch: files.epoch, first: files.first, last: files.last)
    if files.lostEvents > 0 {
      report.damages.append("\(files.lostEvents) acknowledged events after \(files.last) are gone")
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
