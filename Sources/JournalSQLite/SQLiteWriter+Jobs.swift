internal import Journal

extension SQLiteWriter {
  /// What the writer thread is asked to do.
  enum Job: Sendable {
    /// `isForDisk`: it is committed only when the disk has it.
    case append([Record], generation: Int, isForDisk: Bool)
    case save(Snapshot)
    case remove(Removal)
    case keep(String, as: JournalNote)
    /// Lets the disk have what is committed; `isAwaited`: and tells so.
    case synchronize(isAwaited: Bool)
    /// Goes on with what is done between commits.
    case doChore
    /// Gives the room of the log back.
    case emptyLog
    /// Notes that the journal is written no more, once the disk has all of it.
    case end
  }

  /// What the writer thread tells the loop.
  enum Report: Sendable {
    case committed(upTo: UInt64, nanoseconds: UInt64)
    /// Nothing was written; the journal goes on.
    case rejected(JournalError)
    /// It may have been written; the journal is at its end.
    case failed(JournalError, String)
    case saved(SnapshotReport)
    case removed(Result<RemovalReport, JournalError>)
    /// The disk has what somebody has waited for.
    case synchronized
    /// There is more to be done between commits.
    case hasChores
    case log(SQLiteStore.LogNotice)
  }
}
