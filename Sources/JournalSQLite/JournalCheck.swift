internal import Glibc
package import Journal
package import Model

/// Reads every record of a journal and continues after damaged ones.
///
/// A daemon may write the journal meanwhile. The check covers the events that existed at its start.
/// No transaction lasts longer than the reading of one page.
package struct JournalCheck {
  package typealias Report = JournalReport

  private static let maxDamages = 100
  private let files: OpenJournal

  /// The name of the daemon that the journal belongs to.
  package var daemon: String { files.notes.daemon }
  package var epoch: String { files.epoch }
  package var first: UInt64 { files.first }
  package var last: UInt64 { files.last }

  /// - Throws: ``JournalError`` when the journal cannot be opened.
  package init(path: String) throws(JournalError) {
    files = try OpenJournal(path: path, for: .checking)
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

/// Statistics of a journal; a daemon may write it meanwhile.
package struct JournalInspection: Sendable {
  /// The events of one stream.
  package struct Written: Equatable, Sendable {
    package let stream: String
    package let events: Int

    /// The bytes of the events' data.
    package let bytes: Int
  }

  /// The most streams by events, and the most by bytes, in ``mostWritten``.
  private static let maxStreams = 10

  /// The snapshots at one position.
  package struct States: Equatable, Sendable {
    package let seq: UInt64
    package var services: Int
    package var bytes: Int
  }

  /// The name of the daemon that the journal belongs to.
  package private(set) var daemon = ""
  package private(set) var epoch = ""
  package private(set) var first: UInt64 = 0
  package private(set) var last: UInt64 = 0
  package private(set) var count = 0
  package private(set) var streams = 0

  /// The bytes of event data.
  package private(set) var dataBytes = 0

  /// The streams with the most events, then others with the most bytes of data.
  package private(set) var mostWritten: [Written] = []

  /// The number of events of each type.
  package private(set) var types: [String: Int] = [:]

  /// The snapshots, newest first.
  package private(set) var snapshots: [States] = []

  /// The size of the files, and of the free pages in them, in bytes.
  package private(set) var bytes = 0
  package private(set) var freeBytes = 0

  /// Reads all events to collect the statistics.
  ///
  /// - Throws: ``JournalError`` when the journal cannot be opened or read.
  package init(of path: String) throws(JournalError) {
    let files = try OpenJournal(path: path, for: .checking)
    (daemon, epoch) = (files.notes.daemon, files.epoch)
    (first, last) = (files.first, files.last)
    do throws(SQLiteError) {
      try count(files.reader.database)
    } catch {
      throw .unavailable(detail: "\(path): \(error)")
    }
    try files.checkIsStill()
    for name in (["", "-wal"] + TailFile.ends).map({ path + $0 }) {
      var status = stat()
      if stat(name, &status) == 0 { bytes += Int(status.st_size) }
    }
  }

  private mutating func count(_ database: Database) throws(SQLiteError) {
    let byType = try Statement(
      "SELECT type, count(*) FROM event WHERE seq <= \(last) GROUP BY type", on: database)
    while try byType.step() {
      let number = Int(byType.int64(1))
      types[byType.string(0)] = number
      count += number
    }
    try countStreams(database)
    let states = try Statement(
      """
      SELECT seq, count(DISTINCT service), sum(length(CAST(data AS BLOB))) FROM snapshot
      GROUP BY seq ORDER BY seq DESC
      """, on: database)
    while try states.step() {
      snapshots.append(
        States(
          seq: try states.position(0), services: Int(states.int64(1)), bytes: Int(states.int64(2)))
      )
    }
    let size = try database.integer("PRAGMA page_size") ?? 0
    freeBytes = Int(size * (try database.integer("PRAGMA freelist_count") ?? 0))
  }

  private mutating func countStreams(_ database: Database) throws(SQLiteError) {
    let rows = try Statement(
      "SELECT stream, count(*), sum(length(CAST(data AS BLOB))) FROM event GROUP BY stream",
      on: database)
    var (byEvents, byBytes): ([Written], [Written]) = ([], [])
    while try rows.step() {
      let (events, bytes) = (Int(rows.int64(1)), Int(rows.int64(2)))
      streams += 1
      dataBytes += bytes
      // The name is read only if the stream is among the first ones.
      let isBusy = byEvents.count < Self.maxStreams || events > byEvents.last?.events ?? 0
      let isLarge = byBytes.count < Self.maxStreams || bytes > byBytes.last?.bytes ?? 0
      guard isBusy || isLarge else { continue }
      let written = Written(stream: rows.string(0), events: events, bytes: bytes)
      if isBusy { Self.insert(written, into: &byEvents) { $0.events < $1.events } }
      if isLarge { Self.insert(written, into: &byBytes) { $0.bytes < $1.bytes } }
    }
    mostWritten = byEvents + byBytes.filter { !byEvents.contains($0) }
  }

  /// Inserts a stream into a sorted list, which keeps the first ones.
  private static func insert(
    _ written: Written, into list: inout [Written], isLess: (Written, Written) -> Bool
  ) {
    list.insert(written, at: list.firstIndex { isLess($0, written) } ?? list.endIndex)
    if list.count > maxStreams { list.removeLast() }
  }
}
