internal import Facts
internal import Journal

extension SQLiteWriter {
  /// A job for the writer thread.
  enum Job: Sendable {
    /// Writes records.
    ///
    /// With `isForDisk`, they are committed only once the disk has them.
    case append([Record], generation: Int, isForDisk: Bool)
    case save(Snapshot)
    case remove(Removal)
    case keep(String, as: JournalNote)
    /// Flushes committed events to the disk.
    ///
    /// With `isAwaited`, reports completion.
    case synchronize(isAwaited: Bool)
    /// Continues with background work between commits.
    case doChore
    /// Truncates the log.
    case emptyLog
    /// Records a clean shutdown, once the disk has all events.
    case end
  }

  /// A report from the writer thread to the loop.
  enum Report: Sendable {
    case committed(upTo: UInt64, nanoseconds: UInt64)
    /// Nothing was written; the journal accepts further events.
    case rejected(JournalError)
    /// The write may have succeeded; the journal accepts no more events.
    case failed(JournalError, String)
    case saved(SnapshotReport)
    case removed(Result<RemovalReport, JournalError>)
    /// The disk has the awaited events.
    case synchronized
    /// There is more background work to do between commits.
    case hasChores
    case log(SQLiteStore.LogNotice)
  }
}
